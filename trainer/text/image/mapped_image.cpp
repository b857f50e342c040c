#include "trainer/text/image/mapped_image.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "trace/base/file_system.h"

namespace shardlens::trainer::text {

namespace {

tl::unexpected<trace::base::Error> unmappable(const std::string& name, const char* why) {
  const auto kind =
      errno == ENOENT ? trace::base::ErrorKind::kMissing : trace::base::ErrorKind::kIo;
  return trace::base::fail(kind, "\"" + name + "\" cannot be mapped: " + why + ".");
}

}  // namespace

trace::base::Result<MappedImage> MappedImage::of_file(const std::filesystem::path& file) {
  const trace::base::Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor.is_open()) return unmappable(file.string(), std::strerror(errno));
  return of_descriptor(descriptor.get(), file.string());
}

trace::base::Result<MappedImage> MappedImage::of_descriptor(int descriptor,
                                                            const std::string& name) {
  struct stat status = {};
  if (fstat(descriptor, &status) != 0) return unmappable(name, std::strerror(errno));
  if (!S_ISREG(status.st_mode) || status.st_size == 0) {
    errno = 0;
    return unmappable(name, "it is not a regular file with content");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* address = mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) return unmappable(name, std::strerror(errno));
  return MappedImage({static_cast<const std::byte*>(address), size});
}

MappedImage::MappedImage(MappedImage&& other) noexcept
    : mapping_(std::exchange(other.mapping_, {})) {}

MappedImage::~MappedImage() {
  if (!mapping_.empty()) munmap(const_cast<std::byte*>(mapping_.data()), mapping_.size());
}

}  // namespace shardlens::trainer::text
