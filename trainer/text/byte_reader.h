// Reads a file from beginning to end in pieces. Read calls, no mapping: a file that is
// cut off meanwhile is an error and no SIGBUS. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "trace/base/file_system.h"
#include "trace/base/result.h"

namespace shardlens::trainer::text {

class ByteReader {
 public:
  // Error kFailed names the file and the reason.
  static trace::base::Result<ByteReader> open(const std::filesystem::path& file);

  std::int64_t size() const { return size_; }  // when it was opened
  // At most `limit` bytes, fewer only at the end, where it is empty. Valid until the next call.
  trace::base::Result<std::string_view> read(std::size_t limit);
  // All that is left.
  trace::base::Result<std::string> read_rest();

 private:
  ByteReader(std::filesystem::path file, trace::base::Descriptor descriptor, std::int64_t size)
      : file_(std::move(file)), descriptor_(std::move(descriptor)), size_(size) {}
  trace::base::Result<std::size_t> read_into(char* to, std::size_t bytes);

  std::filesystem::path file_;
  trace::base::Descriptor descriptor_;
  std::int64_t size_;
  std::string buffer_;
};

}  // namespace shardlens::trainer::text
