// A file, or memory without one, mapped read-only. Immutable; any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "trace/base/result.h"

namespace shardlens::trainer::text {

class MappedImage {
 public:
  // Nobody may cut the file off while it is mapped; replacing and deleting it are fine.
  static trace::base::Result<MappedImage> of_file(const std::filesystem::path& file);
  // Of an open file, which may be closed afterwards; `name` is for messages.
  static trace::base::Result<MappedImage> of_descriptor(int descriptor, const std::string& name);
  MappedImage(MappedImage&& other) noexcept;
  ~MappedImage();

  std::span<const std::byte> bytes() const { return mapping_; }

 private:
  explicit MappedImage(std::span<const std::byte> mapping) : mapping_(mapping) {}

  std::span<const std::byte> mapping_;
};

}  // namespace shardlens::trainer::text
