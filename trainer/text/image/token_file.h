// The file of an encoded text: mapped, and while it is made, when what lies behind its header comes
// from us or from another program, the header last. One thread; what is mapped, any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "trace/base/file_system.h"
#include "trace/base/result.h"
#include "trainer/text/image/token_layout.h"

namespace shardlens::trainer::text {

// A file, or memory without one, mapped read-only. Immutable.
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

class TokenFile {
 public:
  // Replaces the file. Errors: kDiskFull, kIo.
  static trace::base::Result<TokenFile> at(const std::filesystem::path& file);
  // Without a name; gone with its image.
  static trace::base::Result<TokenFile> in_memory();

  // For another program to write to, from kTokensBegin on.
  int descriptor() const { return descriptor_.get(); }
  // Puts it behind what was appended before, the first at kTokensBegin. Errors: kDiskFull, kIo.
  trace::base::Result<void> append(std::span<const std::byte> bytes);
  // `header` says what was written; its largest numbers, hash and checksum are found here. The file
  // is whole and on the disk then. Errors: kDiskFull, kIo; kFailed: it is not as long as that.
  trace::base::Result<MappedImage> finish(TokenHeader header);

 private:
  TokenFile(trace::base::Descriptor descriptor, bool is_on_disk, std::string name)
      : descriptor_(std::move(descriptor)), is_on_disk_(is_on_disk), name_(std::move(name)) {}
  trace::base::Result<void> write_at(std::uint64_t position, std::span<const std::byte> bytes);

  trace::base::Descriptor descriptor_;
  bool is_on_disk_;
  std::string name_;
  std::uint64_t end_ = kTokensBegin;
};

}  // namespace shardlens::trainer::text
