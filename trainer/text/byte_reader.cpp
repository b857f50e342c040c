#include "trainer/text/byte_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace shardlens::trainer::text {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

tl::unexpected<trace::base::Error> unreadable(const std::filesystem::path& file, const char* why) {
  return trace::base::fail(
      trace::base::ErrorKind::kFailed,
      "The text \"" + file.string() + "\" cannot be read: " + why + ". Check its permissions.");
}

}  // namespace

trace::base::Result<ByteReader> ByteReader::open(const std::filesystem::path& file) {
  trace::base::Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!descriptor.is_open() || fstat(descriptor.get(), &status) != 0) {
    return unreadable(file, std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) return unreadable(file, "it is not a regular file");
  return ByteReader(file, std::move(descriptor), status.st_size);
}

trace::base::Result<std::size_t> ByteReader::read_into(char* to, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t count = ::read(descriptor_.get(), to + done, bytes - done);
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unreadable(file_, std::strerror(errno));
    done += static_cast<std::size_t>(count);
  }
  return done;
}

trace::base::Result<std::string_view> ByteReader::read(std::size_t limit) {
  buffer_.resize(limit);
  TRY_ASSIGN(const std::size_t bytes, read_into(buffer_.data(), limit));
  return std::string_view(buffer_.data(), bytes);
}

trace::base::Result<std::string> ByteReader::read_rest() {
  std::string text;
  while (true) {
    // One byte more than expected, so that the end is seen without another piece.
    const auto known = static_cast<std::size_t>(size_) + 1;
    const std::size_t begin = text.size();
    text.resize(begin < known ? known : begin + kPiece);
    TRY_ASSIGN(const std::size_t bytes, read_into(text.data() + begin, text.size() - begin));
    const bool is_end = begin + bytes < text.size();
    text.resize(begin + bytes);
    if (is_end) return text;
  }
}

}  // namespace shardlens::trainer::text
