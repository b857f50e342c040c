#include "trainer/checkpoint/checkpoint_folder.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "trace/base/file_system.h"
#include "trainer/checkpoint/disk_file.h"
#include "trainer/checkpoint/whole_folder.h"

namespace shardlens::trainer::checkpoint {

namespace fs = std::filesystem;
using trace::base::Result;

namespace {

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
