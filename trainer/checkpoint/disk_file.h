// A file that is read or written at positions, several processes writing into one. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "trace/base/file_system.h"
#include "trace/base/result.h"

namespace shardlens::trainer::checkpoint {

class DiskFile {
 public:
  // A regular file to read; anything else is an error, without waiting for it.
  static trace::base::Result<DiskFile> open(const std::filesystem::path& path);
  // A file of this size to write and not to read, or the one that another rank has just made of
  // it. Room on the disk is reserved where the file system can.
  static trace::base::Result<DiskFile> create(const std::filesystem::path& path,
                                              std::int64_t bytes);

  const std::filesystem::path& path() const { return path_; }
  std::int64_t size() const { return size_; }  // when it was opened

  // Read calls, no mapping: a file that is cut off meanwhile, or a bad sector, is an error and not
  // a SIGBUS.
  trace::base::Result<void> read(std::int64_t offset, std::span<std::byte> bytes) const;
  // kDiskFull also for a size limit, if SIGXFSZ is ignored. Now and then it waits for the disk, so
  // that synchronize() has little left to wait for, however large the file is.
  trace::base::Result<void> write(std::int64_t offset, std::span<const std::byte> bytes);
  // Waits until what was written is on the disk.
  trace::base::Result<void> synchronize();

 private:
  DiskFile(std::filesystem::path path, trace::base::Descriptor descriptor, std::int64_t size)
      : path_(std::move(path)), descriptor_(std::move(descriptor)), size_(size) {}
  trace::base::Result<void> reserve(std::int64_t bytes);
  trace::base::Result<void> push_out();

  std::filesystem::path path_;
  trace::base::Descriptor descriptor_;
  std::int64_t size_ = 0;
  std::int64_t unpushed_bytes_ = 0;
};

// A file of this text, on the disk when it returns.
trace::base::Result<void> write_file(const std::filesystem::path& path, std::string_view text);

}  // namespace shardlens::trainer::checkpoint
