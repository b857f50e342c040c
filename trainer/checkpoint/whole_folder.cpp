#include "trainer/checkpoint/whole_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "trace/base/file_system.h"
#include "trace/base/wall_clock.h"
#include "trace/job/checkpoint/checkpoint_info.h"
#include "trainer/checkpoint/disk_file.h"

namespace shardlens::trainer::checkpoint {

namespace fs = std::filesystem;
using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::quoted;
using trace::base::Result;

namespace {

// Of a whole folder that waits for a newer one to have its name: unlike an unfinished one it is not
// to be deleted before.
constexpr std::string_view kOlderMark = ".replaced-";

fs::path marked_path(const fs::path& finished, std::string_view mark) {
  return trace::base::beside(finished, std::string(mark) + std::to_string(getpid()) + "-" +
                                           std::to_string(trace::base::wall_clock_ns()));
}

fs::path unfinished_path(const fs::path& finished) {
  return marked_path(finished, trace::job::kUnfinishedMark);
}

// "step_000020" of "step_000020.replaced-12-34"; empty: another's.
std::string name_of_older(const std::string& name) {
  const std::size_t mark = name.find(kOlderMark);
  if (mark == std::string::npos) return "";
  const bool is_ours =
      name.find_first_not_of("0123456789-", mark + kOlderMark.size()) == std::string::npos;
  return is_ours ? name.substr(0, mark) : "";
}

// Where the file system cannot exchange two names (NFS), and a plain rename refuses a folder that
// is not empty. False, with errno: all is as it was.
bool put_in_place_of(const fs::path& from, const fs::path& to) {
  const fs::path aside = marked_path(to, kOlderMark);
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

// "step_000020.tmp-12-34" → "step_000020"
fs::path finished_path(const fs::path& unfinished) {
  const std::string name = unfinished.filename().string();
  return unfinished.parent_path() / name.substr(0, name.find(trace::job::kUnfinishedMark));
}

constexpr std::string_view kNameBegins = "step_";

// Of saves that were killed.
void remove_leftovers(const fs::path& checkpoints) {
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator entry(checkpoints, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool ours = name.starts_with(kNameBegins) &&
                      name.find(trace::job::kUnfinishedMark) != std::string::npos;
    if (ours) leftovers.push_back(entry->path());
  }
  for (const fs::path& leftover : leftovers) abandon_folder(leftover);
}

}  // namespace

Result<fs::path> begin_folder(const fs::path& finished) {
  take_back_older(finished.parent_path(), finished.filename().string() + std::string(kOlderMark));
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

void take_back_older(const fs::path& parent, std::string_view prefix) {
  std::vector<fs::path> older;
  std::error_code error;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with(prefix) && !name_of_older(name).empty()) older.push_back(entry->path());
  }
  for (const fs::path& folder : older) {
    const fs::path finished = parent / name_of_older(folder.filename().string());
    if (std::rename(folder.c_str(), finished.c_str()) == 0) continue;
    // The newer one has its name.
    if (errno == EEXIST || errno == ENOTEMPTY) abandon_folder(folder);
  }
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

Result<fs::path> begin_checkpoint(const fs::path& checkpoints, std::int64_t step) {
  take_back_older(checkpoints, kNameBegins);
  remove_leftovers(checkpoints);
  TRY_ASSIGN(const fs::path folder,
             begin_folder(checkpoints / trace::job::checkpoint_folder_name(step)));
  TRY(trace::base::synchronize(checkpoints / ".."));
  return folder;
}

Result<fs::path> publish_checkpoint(const fs::path& unfinished,
                                    const trace::job::CheckpointInfo& info) {
  TRY(write_file(unfinished / trace::job::kCheckpointFile,
                 trace::job::checkpoint_info_to_yaml(info)));
  const fs::path finished = finished_path(unfinished);
  TRY(publish_folder(unfinished, finished));
  return finished;
}

Result<void> keep_last(const fs::path& checkpoints, std::int64_t count, std::int64_t saved_step) {
  if (count <= 0) return {};
  const auto all = trace::job::list_checkpoints(checkpoints);
  const auto saved = [&](const trace::job::CheckpointFolder& one) {
    return one.step == saved_step;
  };
  // The saved one has its place, also among later steps of a run that was started again.
  std::int64_t others = std::ssize(all) - std::ranges::count_if(all, saved);
  for (const trace::job::CheckpointFolder& one : all) {
    if (others <= count - 1) break;
    if (saved(one)) continue;
    --others;
    TRY(delete_folder(one.path));
  }
  return {};
}

}  // namespace shardlens::trainer::checkpoint
