#include "trainer/checkpoint/disk_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "trace/base/file_system.h"

namespace shardlens::trainer::checkpoint {

using trace::base::Descriptor;
using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::quoted;
using trace::base::Result;

namespace {

constexpr std::int64_t kMostUnpushed = 256 << 20;

tl::unexpected<trace::base::Error> cannot_read(const std::filesystem::path& path, int code) {
  return fail(code == ENOENT ? ErrorKind::kMissing : ErrorKind::kIo,
              "cannot read " + quoted(path) + ": " + std::strerror(code));
}

tl::unexpected<trace::base::Error> cannot_write(const std::filesystem::path& path, int code) {
  const ErrorKind kind = trace::base::write_error_kind(code);
  const bool full = kind == ErrorKind::kDiskFull;
  return fail(kind,
              "cannot write " + quoted(path) + ": " + std::strerror(code) +
                  (full ? "; free some space or keep fewer checkpoints (keep_checkpoints)" : ""));
}

}  // namespace

Result<DiskFile> DiskFile::open(const std::filesystem::path& path) {
  // Without O_NONBLOCK a pipe would wait for its writer.
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!descriptor.is_open() || fstat(descriptor.get(), &status) != 0) {
    return cannot_read(path, errno);
  }
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::kForeign, quoted(path) + " is not a file");
  return DiskFile(path, std::move(descriptor), status.st_size);
}

Result<DiskFile> DiskFile::create(const std::filesystem::path& path, std::int64_t bytes) {
  // Through a descriptor that may also read, NFS writes whole pages, over what another machine has
  // just written into the rest of them.
  Descriptor descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!descriptor.is_open()) return cannot_write(path, errno);
  DiskFile file(path, std::move(descriptor), bytes);
  TRY(file.reserve(bytes));
  return file;
}

Result<void> DiskFile::reserve(std::int64_t bytes) {
  if (bytes > 0 && fallocate(descriptor_.get(), 0, 0, bytes) == 0) return {};
  const bool unable = bytes == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINTR;
  if (!unable) return cannot_write(path_, errno);
  if (ftruncate(descriptor_.get(), bytes) != 0) return cannot_write(path_, errno);
  return {};
}

Result<void> DiskFile::read(std::int64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t got = pread(descriptor_.get(), bytes.data(), bytes.size(), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return cannot_read(path_, errno);
    if (got == 0) {
      return fail(ErrorKind::kDamaged,
                  quoted(path_) + " ends at byte " + std::to_string(offset) + ": it was cut off");
    }
    bytes = bytes.subspan(static_cast<std::size_t>(got));
    offset += got;
  }
  return {};
}

Result<void> DiskFile::write(std::int64_t offset, std::span<const std::byte> bytes) {
  unpushed_bytes_ += std::ssize(bytes);
  while (!bytes.empty()) {
    const ssize_t put = pwrite(descriptor_.get(), bytes.data(), bytes.size(), offset);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return cannot_write(path_, put == 0 ? ENOSPC : errno);
    bytes = bytes.subspan(static_cast<std::size_t>(put));
    offset += put;
  }
  if (unpushed_bytes_ < kMostUnpushed) return {};
  unpushed_bytes_ = 0;
  return push_out();
}

// Waits for what was pushed out the last time, and pushes out what came since.
Result<void> DiskFile::push_out() {
  constexpr unsigned kHow = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE;
  if (sync_file_range(descriptor_.get(), 0, /*nbytes=*/0, kHow) == 0) return {};
  const bool unable = errno == ENOSYS || errno == EOPNOTSUPP || errno == EINVAL || errno == ESPIPE;
  if (unable) return {};
  return cannot_write(path_, errno);
}

Result<void> DiskFile::synchronize() {
  if (fsync(descriptor_.get()) != 0) return cannot_write(path_, errno);
  return {};
}

Result<void> write_file(const std::filesystem::path& path, std::string_view text) {
  TRY_ASSIGN(DiskFile file, DiskFile::create(path, std::ssize(text)));
  TRY(file.write(0, std::as_bytes(std::span(text))));
  return file.synchronize();
}

}  // namespace shardlens::trainer::checkpoint
