// The few things about files that the standard library lacks. Any thread.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "trace/base/result.h"

namespace shardlens::trace::base {

// "" on a local file system; otherwise a warning: SQLite's live reading needs shared memory, which
// no network file system has.
std::string network_file_system_warning(const std::filesystem::path& path);
// The name of a network file system by statfs's f_type; "" for all others.
std::string_view network_file_system_name(std::int64_t type);

// Removes itself and all it holds.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  Descriptor() = default;
  // As open() gives it; negative: none, and errno says why.
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  bool is_open() const { return number_ >= 0; }
  int get() const { return number_; }
  // False: the system says only now what it could not write.
  bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_ = -1;
};

// Held by one process at a time; the system lets go of it when that ends, however it does.
class FolderLock {
 public:
  // Waits up to `patience`. Error kFailed: another process holds it. A file system without locks
  // gives one to everybody.
  static Result<FolderLock> acquire(const std::filesystem::path& folder,
                                    std::chrono::milliseconds patience);
  // By any process, this one too. False where it cannot be told.
  static bool is_held(const std::filesystem::path& folder);

 private:
  explicit FolderLock(int descriptor) : folder_(descriptor) {}
  Descriptor folder_;
};

// Room on a disk that is kept free for what must be said when the disk is full: a file without a
// name, which nobody can leave behind. One thread at a time.
class ReservedRoom {
 public:
  // On the disk of `folder`, as much as a few transactions of some ten pages and their journal
  // need. None where its file system cannot do that, or has no such room.
  explicit ReservedRoom(const std::filesystem::path& folder);

  void release() { file_.close(); }

 private:
  Descriptor file_;
};

// The paths of what lies in a folder, in no order, as far as it can be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

// Whatever their paths are.
inline bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(a, b, error);
}

// 0 for a file that is not there.
std::int64_t file_size_or_zero(const std::filesystem::path& file);

// Changes whenever the file is written to; 0 for a file that is not there.
struct FileStamp {
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;
  std::uint64_t inode = 0;
  bool operator==(const FileStamp&) const = default;
};
FileStamp stamp_of(const std::filesystem::path& file);

// `file` with a suffix after its whole name: "rank_0.sqlite" + "-wal".
std::filesystem::path beside(const std::filesystem::path& file, std::string_view suffix);

// Waits until the file is on the disk: SQLite is told not to while nobody can see the file.
Result<void> synchronize(const std::filesystem::path& file);

// What kind of failure it is when the system refuses to write; `code`: errno. A quota and a size
// limit of files are treated as a full disk.
inline ErrorKind write_error_kind(int code) {
  const bool is_full = code == ENOSPC || code == EDQUOT || code == EFBIG;
  return is_full ? ErrorKind::kDiskFull : ErrorKind::kIo;
}

// "" where it cannot be read. Also of files of the kernel, which have no size.
std::string first_line(const std::filesystem::path& file);
// All that is in a small file; none: it cannot be read.
std::optional<std::string> whole_text(const std::filesystem::path& file);

// All of `text` or what was there before: it is written beside the file, and takes its place once
// it is on the disk.
std::error_code replace_text(const std::filesystem::path& file, std::string_view text);

// Moves `from` to `to` on the same file system; an existing `to` is kUsage.
Result<void> publish_file(const std::filesystem::path& from, const std::filesystem::path& to);

// Where a file for the user goes: refuses a folder, and a file that is there unless it may be
// replaced. `example`: a good name.
Result<void> check_output(const std::filesystem::path& output, bool overwrite,
                          std::string_view example);

// Moves what is whole to its place; an `output` that came meanwhile is replaced only if it may be.
Result<void> publish_output(const std::filesystem::path& unfinished,
                            const std::filesystem::path& output, bool overwrite);
// `code`: errno of the system call that failed.
tl::unexpected<Error> cannot_write(const std::filesystem::path& output, int code);

// For a message, on one line.
std::string quoted(const std::filesystem::path& path);

}  // namespace shardlens::trace::base
