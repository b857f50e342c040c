// The folders of a run's checkpoints, which appear as a whole (whole_folder.h). Rank 0's training
// thread; one process at a time.
#pragma once

#include <cstdint>
#include <filesystem>

#include "trace/base/result.h"
#include "trace/job/checkpoint/checkpoint_info.h"

namespace shardlens::trainer::checkpoint {

// Creates <checkpoints>/step_000020.tmp-<process>-<time>, to be published or abandoned, and removes
// what killed saves left, but for an older checkpoint that none has replaced.
trace::base::Result<std::filesystem::path> begin_checkpoint(
    const std::filesystem::path& checkpoints, std::int64_t step);
// Writes checkpoint.yaml into `unfinished`, whose other files must be on the disk, and gives the
// folder its name. A checkpoint of the same step is replaced in the same instant. Returns the
// folder.
trace::base::Result<std::filesystem::path> publish_checkpoint(
    const std::filesystem::path& unfinished, const trace::job::CheckpointInfo& info);

// Deletes all but the `count` last steps and the one that was just saved; 0 keeps all.
trace::base::Result<void> keep_last(const std::filesystem::path& checkpoints, std::int64_t count,
                                    std::int64_t saved_step);

}  // namespace shardlens::trainer::checkpoint
