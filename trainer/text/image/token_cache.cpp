#include "trainer/text/image/token_cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "trace/base/checksum.h"
#include "trace/base/file_system.h"

namespace shardlens::trainer::text {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::milliseconds kLockPoll{20};
// What a process that was killed has left.
constexpr std::chrono::hours kAbandoned{24};
constexpr std::string_view kExtension = ".tokens", kPartExtension = ".part";

// The system lets go of it when its process ends, however that is.
class FileLock {
 public:
  static trace::base::Result<FileLock> acquire(const fs::path& file,
                                               const TokenCache::IsStopped& is_stopped) {
    FileLock lock(file, ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!lock.descriptor_.is_open()) return failed(std::strerror(errno));
    // Polled, as whoever holds it may need long, and a stop is to be heard meanwhile.
    while (flock(lock.descriptor_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) return failed(std::strerror(errno));
      if (is_stopped && is_stopped()) {
        lock.descriptor_.close();  // not ours to delete
        return trace::base::fail(trace::base::ErrorKind::kFailed,
                                 "Waiting for another process that prepares the same text was "
                                 "stopped.");
      }
      std::this_thread::sleep_for(kLockPoll);
    }
    return lock;
  }
  FileLock(FileLock&&) = default;
  FileLock& operator=(FileLock&&) = delete;
  ~FileLock() {
    // Who waits for it now looks for the entry before it makes one.
    if (descriptor_.is_open()) ::unlink(file_.c_str());
  }

 private:
  FileLock(fs::path file, int descriptor) : file_(std::move(file)), descriptor_(descriptor) {}
  static tl::unexpected<trace::base::Error> failed(const char* why) {
    return trace::base::fail(trace::base::ErrorKind::kIo, why);
  }

  fs::path file_;
  trace::base::Descriptor descriptor_;
};

std::string without_full_stop(std::string text) {
  if (text.ends_with('.')) text.pop_back();
  return text;
}

bool is_of_the_disk(const trace::base::Error& error) {
  return error.kind == trace::base::ErrorKind::kDiskFull ||
         error.kind == trace::base::ErrorKind::kIo;
}

struct Entry {
  fs::path file;
  fs::file_time_type used;
  std::uint64_t bytes = 0;
};

}  // namespace

fs::path default_token_cache(const EnvironmentLookup& lookup) {
  // The XDG Base Directory Specification: relative paths are to be ignored.
  const char* cache = lookup("XDG_CACHE_HOME");
  if (cache != nullptr && fs::path(cache).is_absolute()) {
    return fs::path(cache) / "shardlens" / "tokens";
  }
  const char* home = lookup("HOME");
  if (home == nullptr || !fs::path(home).is_absolute()) return {};
  return fs::path(home) / ".cache" / "shardlens" / "tokens";
}

fs::path TokenCache::file_of(std::uint64_t key) const {
  return folder_ / (trace::base::checksum_text(key) + std::string(kExtension));
}

trace::base::Result<EncodedText> TokenCache::find(std::uint64_t key) const {
  const fs::path file = file_of(key);
  TRY_ASSIGN(MappedImage image, MappedImage::of_file(file));
  TRY_ASSIGN(EncodedText text, EncodedText::from(std::move(image), key));
  TRY(text.check_content());
  // Used now; where that cannot be noted the entry only looks older than it is.
  utimensat(AT_FDCWD, file.c_str(), nullptr, 0);
  return text;
}

trace::base::Result<EncodedText> TokenCache::get(std::uint64_t key, const Encode& encode) const {
  if (folder_.empty()) return make_in_memory(key, encode);
  if (auto text = find(key)) return text;
  std::error_code error;
  fs::create_directories(folder_, error);
  auto lock = FileLock::acquire(folder_ / (trace::base::checksum_text(key) + ".lock"), is_stopped_);
  if (!lock && lock.error().kind == trace::base::ErrorKind::kFailed) {
    return tl::make_unexpected(lock.error());
  }
  if (error || !lock) {
    warn_("The token cache \"" + folder_.string() + "\" cannot be used (" +
          (error ? error.message() : lock.error().message) +
          "); tokens are kept in memory. Set token_cache to a folder that can be written, or to "
          "off.");
    return make_in_memory(key, encode);
  }
  // Somebody else may have made it meanwhile.
  auto found = find(key);
  if (found) return found;
  if (found.error().kind != trace::base::ErrorKind::kMissing) {
    warn_("The token cache's \"" + file_of(key).string() + "\" is damaged (" +
          without_full_stop(found.error().message) + ") and is made again.");
  }
  auto made = make(key, encode);
  if (made || !is_of_the_disk(made.error())) return made;
  warn_("The token cache \"" + folder_.string() + "\" cannot take the text (" +
        without_full_stop(made.error().message) +
        "); tokens are kept in memory. Make room or set token_cache to another folder.");
  return make_in_memory(key, encode);
}

trace::base::Result<EncodedText> TokenCache::make(std::uint64_t key, const Encode& encode) const {
  const fs::path part = folder_ / (trace::base::checksum_text(key) + "." +
                                   std::to_string(getpid()) + std::string(kPartExtension));
  const auto encoded = [&]() -> trace::base::Result<EncodedText> {
    TRY_ASSIGN(TokenFile file, TokenFile::at(part));
    TRY_ASSIGN(MappedImage image, encode(file));
    TRY_ASSIGN(EncodedText text, EncodedText::from(std::move(image), key));
    if (::rename(part.c_str(), file_of(key).c_str()) != 0) {
      return trace::base::fail(trace::base::ErrorKind::kIo, std::strerror(errno));
    }
    return text;
  }();
  if (!encoded) {
    ::unlink(part.c_str());
    return encoded;
  }
  delete_oldest(file_of(key));
  return encoded;
}

trace::base::Result<EncodedText> TokenCache::make_in_memory(std::uint64_t key,
                                                            const Encode& encode) const {
  TRY_ASSIGN(TokenFile file, TokenFile::in_memory());
  TRY_ASSIGN(MappedImage image, encode(file));
  return EncodedText::from(std::move(image), key);
}

// Who has one mapped keeps it.
void TokenCache::delete_oldest(const fs::path& kept) const {
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code error;
  for (auto it = fs::directory_iterator(folder_, error); !error && it != fs::directory_iterator();
       it.increment(error)) {
    std::error_code ignored;
    const Entry entry{it->path(), it->last_write_time(ignored), it->file_size(ignored)};
    if (ignored) continue;
    const std::string extension = it->path().extension().string();
    if (extension == kPartExtension && fs::file_time_type::clock::now() - entry.used > kAbandoned) {
      fs::remove(entry.file, ignored);
    }
    if (extension != kExtension) continue;
    total += entry.bytes;
    if (entry.file != kept) entries.push_back(entry);
  }
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (total <= limit_bytes_) return;
    std::error_code ignored;
    if (fs::remove(entry.file, ignored)) total -= entry.bytes;
  }
}

}  // namespace shardlens::trainer::text
