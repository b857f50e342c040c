// Folders that appear as a whole or not at all: they are written under another name beside their
// own and then renamed. One process at a time; any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "trace/base/result.h"
#include "trace/job/checkpoint/checkpoint_info.h"

namespace shardlens::trainer::checkpoint {

// Creates the folder <finished>.tmp-<process>-<time>, and those above it, and takes an older one of
// `finished` back.
trace::base::Result<std::filesystem::path> begin_folder(const std::filesystem::path& finished);
// Gives `unfinished`, whose files must be on the disk, the name `finished`. That name is the new
// folder's or the older one's at any moment (on NFS, which cannot exchange names, for one neither
// has it); the older one is deleted then.
trace::base::Result<void> publish_folder(const std::filesystem::path& unfinished,
                                         const std::filesystem::path& finished);
// Gives the older ones of `parent` whose names begin with `prefix` their names back, if a process
// was killed on NFS before the newer ones had them, or else deletes them.
void take_back_older(const std::filesystem::path& parent, std::string_view prefix);
// Deletes an unfinished one.
void abandon_folder(const std::filesystem::path& unfinished);
// Deletes a finished one, which loses its name first: what is half deleted must not look whole.
trace::base::Result<void> delete_folder(const std::filesystem::path& finished);

// Those of a run's checkpoints, by rank 0's training thread.
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
