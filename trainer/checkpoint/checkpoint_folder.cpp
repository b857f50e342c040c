#include "trainer/checkpoint/checkpoint_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <system_error>

#include "trace/store/file_system.h"
#include "trainer/checkpoint/disk_file.h"

namespace shardlens::trainer {

namespace fs = std::filesystem;
using trace::ErrorKind;
using trace::fail;
using trace::quoted;
using trace::Result;

namespace {

tl::unexpected<trace::Error> cannot(const std::string& what, const fs::path& path,
                                    const std::error_code& error) {
  const bool full = error == std::errc::no_space_on_device;
  return fail(full ? ErrorKind::kDiskFull : ErrorKind::kIo,
              "cannot " + what + " " + quoted(path) + ": " + error.message());
}

fs::path unfinished_path(const fs::path& finished) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return trace::beside(finished, std::string(trace::kUnfinishedMark) + std::to_string(getpid()) +
                                     "-" + std::to_string(now.count()));
}

// "step_000020.tmp-12-34" → "step_000020"
fs::path finished_path(const fs::path& unfinished) {
  const std::string name = unfinished.filename().string();
  return unfinished.parent_path() / name.substr(0, name.find(trace::kUnfinishedMark));
}

void remove_leftovers(const fs::path& checkpoints) {
  std::error_code error;
  std::vector<fs::path> leftovers;
  for (fs::directory_iterator entry(checkpoints, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool ours =
        name.starts_with("step_") && name.find(trace::kUnfinishedMark) != std::string::npos;
    if (ours) leftovers.push_back(entry->path());
  }
  for (const fs::path& leftover : leftovers) abandon_checkpoint(leftover);
}

Result<void> write_info(const fs::path& file, const trace::CheckpointInfo& info) {
  const std::string yaml = trace::checkpoint_info_to_yaml(info);
  TRY_ASSIGN(DiskFile out, DiskFile::create(file, std::ssize(yaml)));
  TRY(out.write(0, std::as_bytes(std::span(yaml))));
  return out.synchronize();
}

}  // namespace

Result<void> replace_folder(const fs::path& from, const fs::path& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno == EEXIST &&
      renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    return {};
  }
  // A file system without these flags, where a plain rename refuses a folder that is not empty.
  if (errno == EINVAL && std::rename(from.c_str(), to.c_str()) == 0) return {};
  const int code = errno;
  const bool taken = code == EEXIST || code == ENOTEMPTY;
  return fail(ErrorKind::kIo, "cannot create " + quoted(to) + ": " + std::strerror(code) +
                                  (taken ? "; delete it or save into another run" : ""));
}

Result<fs::path> begin_checkpoint(const fs::path& checkpoints, std::int64_t step) {
  std::error_code error;
  fs::create_directories(checkpoints, error);
  if (error) return cannot("create the folder", checkpoints, error);
  TRY(trace::synchronize(checkpoints / ".."));
  remove_leftovers(checkpoints);
  const fs::path folder = unfinished_path(checkpoints / trace::checkpoint_folder_name(step));
  if (!fs::create_directory(folder, error)) return cannot("create the folder", folder, error);
  return folder;
}

Result<fs::path> publish_checkpoint(const fs::path& unfinished, const trace::CheckpointInfo& info) {
  TRY(write_info(unfinished / trace::kCheckpointFile, info));
  TRY(trace::synchronize(unfinished));
  const fs::path finished = finished_path(unfinished);
  TRY(replace_folder(unfinished, finished));
  TRY(trace::synchronize(finished.parent_path()));
  abandon_checkpoint(unfinished);
  return finished;
}

void abandon_checkpoint(const fs::path& unfinished) {
  std::error_code ignored;
  fs::remove_all(unfinished, ignored);
}

Result<void> keep_last(const fs::path& checkpoints, std::int64_t count, std::int64_t saved_step) {
  if (count <= 0) return {};
  const auto all = trace::list_checkpoints(checkpoints);
  const auto saved = [&](const trace::CheckpointFolder& one) { return one.step == saved_step; };
  // The saved one has its place, also among later steps of a run that was started again.
  std::int64_t others = std::ssize(all) - std::ranges::count_if(all, saved);
  for (const trace::CheckpointFolder& one : all) {
    if (others <= count - 1) break;
    if (saved(one)) continue;
    --others;
    // Renamed first: what is half deleted must not look whole.
    const fs::path doomed = unfinished_path(one.path);
    std::error_code error;
    fs::rename(one.path, doomed, error);
    if (error) return cannot("delete the old checkpoint", one.path, error);
    abandon_checkpoint(doomed);
  }
  return {};
}

Result<fs::path> latest_checkpoint(const fs::path& checkpoints) {
  return trace::find_checkpoint(checkpoints);
}

}  // namespace shardlens::trainer
