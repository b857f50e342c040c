// A file that is read through a mapping and given back page by page, so that what was read stays in
// no process's memory. One owner at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include "trace/base/result.h"

namespace shardlens::trainer::huggingface {

class MappedFile {
 public:
  // kDamaged: the file does not have `bytes` bytes (any more).
  static trace::base::Result<MappedFile> open(const std::filesystem::path& path,
                                              std::int64_t bytes);
  MappedFile(MappedFile&& other) noexcept;
  ~MappedFile();

  // Hands out [begin, end) in order, in pieces of whole `unit`s of at most a few MiB, which are
  // valid during the call. kIo: the file was cut off meanwhile, or a bad sector.
  using Visit = std::function<void(std::span<const std::byte> piece)>;
  trace::base::Result<void> visit(std::int64_t begin, std::int64_t end, std::int64_t unit,
                                  const Visit& visit) const;

 private:
  MappedFile(std::filesystem::path path, std::byte* data, std::int64_t bytes)
      : path_(std::move(path)), data_(data), bytes_(bytes) {}

  std::filesystem::path path_;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace shardlens::trainer::huggingface
