#include "trainer/huggingface/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "trace/base/file_system.h"

namespace shardlens::trainer::huggingface {

using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::quoted;
using trace::base::Result;

namespace {

constexpr std::int64_t kPieceBytes = 4 << 20;
#ifndef MADV_POPULATE_READ
constexpr int MADV_POPULATE_READ = 22;  // since Linux 5.14
#endif

struct Pages {
  std::byte* begin;
  std::size_t bytes;
};

Pages pages_around(std::byte* data, std::int64_t begin, std::int64_t end) {
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  const std::int64_t first = begin / page * page;
  return {data + first, static_cast<std::size_t>(end - first)};
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::filesystem::path& path, std::int64_t bytes) {
  const trace::base::Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor.is_open()) {
    return fail(ErrorKind::kIo, "cannot read " + quoted(path) + ": " + std::strerror(errno));
  }
  struct stat status {};
  const bool same = fstat(descriptor.get(), &status) == 0 && status.st_size == bytes;
  void* data = same ? mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ, MAP_PRIVATE,
                           descriptor.get(), 0)
                    : MAP_FAILED;
  if (!same) return fail(ErrorKind::kDamaged, quoted(path) + " is being changed");
  if (data == MAP_FAILED) {
    return fail(ErrorKind::kIo, "cannot map " + quoted(path) + ": " + std::strerror(errno));
  }
  return MappedFile(path, static_cast<std::byte*>(data), bytes);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      bytes_(other.bytes_) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) munmap(data_, static_cast<std::size_t>(bytes_));
}

Result<void> MappedFile::visit(std::int64_t begin, std::int64_t end, std::int64_t unit,
                               const Visit& visit) const {
  if (begin < 0 || begin > end || end > bytes_ || (end - begin) % unit != 0) {
    return fail(ErrorKind::kFailed, quoted(path_) + ": asked for bytes that it does not have");
  }
  const std::int64_t step = kPieceBytes / unit * unit;
  for (std::int64_t at = begin; at < end; at += step) {
    const std::int64_t last = std::min(end, at + step);
    const Pages pages = pages_around(data_, at, last);
    // Touching a page that cannot be read would be a SIGBUS; asking for it first is an error.
    // EINVAL: an older kernel, which cannot be asked.
    if (madvise(pages.begin, pages.bytes, MADV_POPULATE_READ) != 0 && errno != EINVAL) {
      return fail(ErrorKind::kIo, quoted(path_) +
                                      " cannot be read: it was cut off meanwhile, or the disk "
                                      "fails");
    }
    visit({data_ + at, static_cast<std::size_t>(last - at)});
    madvise(pages.begin, pages.bytes, MADV_DONTNEED);
  }
  return {};
}

}  // namespace shardlens::trainer::huggingface
