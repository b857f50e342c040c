#include "trace/base/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>

#include "trace/base/file_system.h"

namespace shardlens::trace::base {

namespace fs = std::filesystem;

namespace {

// 0, or what went wrong.
int write_new(const fs::path& file, std::string_view text) {
  const Descriptor descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!descriptor.is_open()) return errno;
  int code = 0;
  while (code == 0 && !text.empty()) {
    const ssize_t written = ::write(descriptor.get(), text.data(), text.size());
    if (written >= 0) text.remove_prefix(static_cast<std::size_t>(written));
    if (written < 0 && errno != EINTR) code = errno;
  }
  if (code == 0 && fsync(descriptor.get()) != 0) code = errno;
  return code;
}

}  // namespace

std::optional<std::string> whole_text(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text;
  std::array<char, 1 << 16> part;
  do {
    stream.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(stream.gcount()));
  } while (stream);
  return stream.bad() || !stream.is_open() ? std::nullopt : std::optional(std::move(text));
}

std::error_code replace_text(const fs::path& file, std::string_view text) {
  const fs::path fresh = beside(file, ".new-" + std::to_string(getpid()));
  std::error_code error(write_new(fresh, text), std::generic_category());
  if (!error) fs::rename(fresh, file, error);
  std::error_code ignored;
  if (error) fs::remove(fresh, ignored);
  return error;
}

}  // namespace shardlens::trace::base
