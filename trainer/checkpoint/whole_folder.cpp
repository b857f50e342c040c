#include "trainer/checkpoint/whole_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <system_error>

#include "trace/base/file_system.h"
#include "trace/job/checkpoint/checkpoint_info.h"

namespace shardlens::trainer::checkpoint {

namespace fs = std::filesystem;
using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::quoted;
using trace::base::Result;

namespace {

fs::path unfinished_path(const fs::path& finished) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return trace::base::beside(finished, std::string(trace::job::kUnfinishedMark) +
                                           std::to_string(getpid()) + "-" +
                                           std::to_string(now.count()));
}

// Where the file system cannot exchange two names (NFS), and a plain rename refuses a folder that
// is not empty. False, with errno: all is as it was.
bool put_in_place_of(const fs::path& from, const fs::path& to) {
  const fs::path aside = unfinished_path(to);
  if (std::rename(to.c_str(), aside.c_str()) != 0) return false;
  if (std::rename(from.c_str(), to.c_str()) == 0) {
    std::rename(aside.c_str(), from.c_str());
    return true;
  }
  const int code = errno;
  std::rename(aside.c_str(), to.c_str());
  errno = code;
  return false;
}

// What had the name `to` ends up as `from`.
Result<void> rename_or_exchange(const fs::path& from, const fs::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EEXIST &&
      renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    return {};
  }
  // A file system without these flags.
  if (errno == EINVAL && std::rename(from.c_str(), to.c_str()) == 0) return {};
  if ((errno == EEXIST || errno == ENOTEMPTY) && put_in_place_of(from, to)) return {};
  const int code = errno;
  return fail(ErrorKind::kIo, "cannot create " + quoted(to) + ": " + std::strerror(code));
}

}  // namespace

Result<fs::path> begin_folder(const fs::path& finished) {
  const fs::path unfinished = unfinished_path(finished);
  std::error_code error;
  fs::create_directories(unfinished, error);
  if (!error) return unfinished;
  return fail(trace::base::write_error_kind(error.value()),
              "cannot create the folder " + quoted(unfinished) + ": " + error.message());
}

Result<void> publish_folder(const fs::path& unfinished, const fs::path& finished) {
  TRY(trace::base::synchronize(unfinished));
  TRY(rename_or_exchange(unfinished, finished));
  TRY(trace::base::synchronize(finished / ".."));
  abandon_folder(unfinished);  // the older one
  return {};
}

void abandon_folder(const fs::path& unfinished) {
  std::error_code ignored;
  fs::remove_all(unfinished, ignored);
}

Result<void> delete_folder(const fs::path& finished) {
  const fs::path doomed = unfinished_path(finished);
  std::error_code error;
  fs::rename(finished, doomed, error);
  if (error) {
    return fail(ErrorKind::kIo,
                "cannot delete the folder " + quoted(finished) + ": " + error.message());
  }
  abandon_folder(doomed);
  return {};
}

}  // namespace shardlens::trainer::checkpoint
