#include "trainer/text/image/token_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "trace/base/checksum.h"
#include "trace/base/file_system.h"

namespace shardlens::trainer::text {

namespace {

tl::unexpected<trace::base::Error> unmappable(const std::string& name, const char* why) {
  const auto kind =
      errno == ENOENT ? trace::base::ErrorKind::kMissing : trace::base::ErrorKind::kIo;
  return trace::base::fail(kind, "\"" + name + "\" cannot be mapped: " + why + ".");
}

tl::unexpected<trace::base::Error> unwritable(const std::string& name, int reason) {
  return trace::base::fail(
      trace::base::write_error_kind(reason),
      "\"" + name + "\" cannot be written: " + std::strerror(reason) + "." +
          (reason == EFBIG ? " Raise the limit of a file's size (ulimit -f)." : ""));
}

// -1: there are none.
template <typename Element>
std::int64_t largest_of(std::span<const std::byte> bytes, std::uint64_t begin,
                        std::uint64_t count) {
  const auto* const first = reinterpret_cast<const Element*>(bytes.data() + begin);
  return count == 0 ? -1 : std::int64_t{*std::max_element(first, first + count)};
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

trace::base::Result<TokenFile> TokenFile::at(const std::filesystem::path& file) {
  trace::base::Descriptor descriptor(
      ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!descriptor.is_open()) return unwritable(file.string(), errno);
  return TokenFile(std::move(descriptor), true, file.string());
}

trace::base::Result<TokenFile> TokenFile::in_memory() {
  const std::string name = "memory for tokens";
  trace::base::Descriptor descriptor(memfd_create("tokens", MFD_CLOEXEC));
  if (!descriptor.is_open()) return unwritable(name, errno);
  return TokenFile(std::move(descriptor), false, name);
}

trace::base::Result<void> TokenFile::write_at(std::uint64_t position,
                                              std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count =
        pwrite(descriptor(), bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unwritable(name_, errno);
    position += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

trace::base::Result<void> TokenFile::append(std::span<const std::byte> bytes) {
  TRY(write_at(end_, bytes));
  end_ += bytes.size();
  return {};
}

trace::base::Result<MappedImage> TokenFile::finish(TokenHeader header) {
  TRY_ASSIGN(MappedImage image, MappedImage::of_descriptor(descriptor(), name_));
  const auto bytes = image.bytes();
  if (bytes.size() != header.file_bytes() || header.messages_bytes > header.notes_bytes) {
    return trace::base::fail(trace::base::ErrorKind::kFailed,
                             "\"" + name_ + "\" was not written to its end.");
  }
  header.largest_token = header.token_bytes == 2
                             ? largest_of<std::uint16_t>(bytes, kTokensBegin, header.tokens)
                             : largest_of<std::uint32_t>(bytes, kTokensBegin, header.tokens);
  if (header.has_labels()) {
    header.largest_label = largest_of<std::int32_t>(bytes, header.labels_begin(), header.examples);
  }
  header.content = trace::base::checksum_of(header.content_of(bytes));
  header.messages = trace::base::checksum_of(bytes.subspan(header.messages_begin()));
  const auto head = std::as_bytes(std::span(&header, 1));
  header.checksum = trace::base::checksum_of(head.first(offsetof(TokenHeader, checksum)));
  TRY(write_at(0, head));
  if (is_on_disk_ && fsync(descriptor()) != 0) return unwritable(name_, errno);
  return image;
}

}  // namespace shardlens::trainer::text
