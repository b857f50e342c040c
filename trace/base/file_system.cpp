#include "trace/base/file_system.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

#include "trace/base/printable.h"
#include "trace/base/text.h"

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

std::string_view network_file_system_name(std::int64_t type) {
  // From linux/magic.h and the file systems' own documentation.
  constexpr std::pair<std::int64_t, std::string_view> kNames[] = {
      {0x6969, "NFS"},        {0x517b, "SMB"},        {0xfe534d42, "SMB"},  {0xff534d42, "CIFS"},
      {0x0bd00bd0, "Lustre"}, {0x00c36400, "Ceph"},   {0x5346414f, "AFS"},  {0x6b414653, "AFS"},
      {0x01021997, "9P"},     {0x19830326, "BeeGFS"}, {0x47504653, "GPFS"}, {0x73757245, "Coda"},
      {0x7461636f, "OCFS2"},  {0x01161970, "GFS2"}};
  const auto found =
      std::ranges::find(kNames, type & 0xffffffff, [](auto& one) { return one.first; });
  return found == std::end(kNames) ? "" : found->second;
}

std::string network_file_system_warning(const fs::path& path) {
  // Of a path that does not exist yet, the nearest parent decides.
  std::error_code ignored;
  fs::path existing = fs::absolute(path, ignored);
  while (!fs::exists(existing, ignored) && existing.has_relative_path()) {
    existing = existing.parent_path();
  }
  struct statfs status {};
  if (statfs(existing.c_str(), &status) != 0) return {};
  const std::string_view name = network_file_system_name(status.f_type);
  if (name.empty()) return {};
  return quoted(path) + " is on a network file system (" + std::string(name) +
         "), where a trace can be damaged while it is written and watched: record on a local disk "
         "(--runs-dir) and copy the packed run";
}

Result<FolderLock> FolderLock::acquire(const fs::path& folder, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kPoll{10};
  FolderLock lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.folder_.is_open()) {
    return fail(ErrorKind::kIo,
                "cannot open the folder " + quoted(folder) + ": " + std::strerror(errno));
  }
  // Polled, so that a signal can end the process as always.
  for (auto waited = kPoll; flock(lock.folder_.get(), LOCK_EX | LOCK_NB) != 0; waited += kPoll) {
    if (errno != EWOULDBLOCK && errno != EINTR) return lock;
    if (waited > patience) {
      return fail(ErrorKind::kFailed, "another program is changing the folder " + quoted(folder) +
                                          " and does not finish: end it, or try again later");
    }
    std::this_thread::sleep_for(kPoll);
  }
  return lock;
}

// Shared, so that two who ask do not meet each other.
bool FolderLock::is_held(const fs::path& folder) {
  const FolderLock asked(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return asked.folder_.is_open() && flock(asked.folder_.get(), LOCK_SH | LOCK_NB) != 0 &&
         errno == EWOULDBLOCK;
}

Result<TemporaryFolder> TemporaryFolder::create() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  std::string name = ((error ? fs::path("/tmp") : parent) / "shardlens-XXXXXX").string();
  if (!mkdtemp(name.data())) {
    return fail(ErrorKind::kIo, "cannot create a temporary folder in " + quoted(parent) + ": " +
                                    std::strerror(errno) + "; set TMPDIR to a writable folder");
  }
  return TemporaryFolder(name);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

ReservedRoom::ReservedRoom(const fs::path& folder) {
  constexpr rlim_t kBytes = 256 << 10;
  rlimit limit{};
  // A larger file would raise SIGXFSZ, which a program that is recorded may not ignore.
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < kBytes) return;
  file_ = Descriptor(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file_.is_open() && fallocate(file_.get(), 0, 0, kBytes) != 0) release();
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    paths.push_back(entry->path());
  }
  return paths;
}

std::int64_t file_size_or_zero(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(file, error);
  return error ? 0 : static_cast<std::int64_t>(size);
}

FileStamp stamp_of(const fs::path& file) {
  struct stat status {};
  if (stat(file.c_str(), &status) != 0) return {};
  return {status.st_size, status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec,
          status.st_ino};
}

fs::path beside(const fs::path& file, std::string_view suffix) {
  fs::path other = file;
  other += suffix;
  return other;
}

Result<void> synchronize(const fs::path& file) {
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.is_open() && fsync(descriptor.get()) == 0) return {};
  const int code = errno;
  return fail(write_error_kind(code), "cannot write " + quoted(file) + ": " + std::strerror(code));
}

Result<void> publish_file(const fs::path& from, const fs::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  int code = errno;
  // Some file systems do not know the flag.
  if (code == EINVAL || code == ENOSYS) {
    std::error_code error;
    if (fs::exists(to, error)) {
      code = EEXIST;
    } else {
      fs::rename(from, to, error);
      if (!error) return {};
      code = error.value();
    }
  }
  if (code == EEXIST) return fail(ErrorKind::kUsage, quoted(to) + " exists already");
  return fail(ErrorKind::kIo, "cannot create " + quoted(to) + ": " + std::strerror(code));
}

Result<void> check_output(const fs::path& output, bool overwrite, std::string_view example) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(output, error))) return {};
  if (fs::is_directory(output, error)) {
    return fail(ErrorKind::kUsage,
                quoted(output) + " is a folder: name a file, such as " + std::string(example));
  }
  if (overwrite) return {};
  return fail(ErrorKind::kUsage,
              quoted(output) + " exists already: choose another name, or give --overwrite");
}

Result<void> publish_output(const fs::path& unfinished, const fs::path& output, bool overwrite) {
  if (!overwrite) return publish_file(unfinished, output);
  std::error_code error;
  fs::rename(unfinished, output, error);
  if (error) return cannot_write(output, error.value());
  return {};
}

tl::unexpected<Error> cannot_write(const fs::path& output, int code) {
  return fail(
      write_error_kind(code),
      quoted(output) + " cannot be written. Is there space, and may you write to that folder?");
}

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

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

std::string quoted(const fs::path& path) {
  // Names may come from files, and be of any length.
  constexpr std::size_t kLongest = 1000;
  return "'" + printable_line(shortened(path.string(), kLongest)) + "'";
}

}  // namespace shardlens::trace::base
