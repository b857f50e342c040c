// Folders that appear as a whole or not at all: they are written under another name beside their
// own and then renamed. One process at a time; any thread.
#pragma once

#include <filesystem>
#include <string_view>

#include "trace/base/result.h"

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

}  // namespace shardlens::trainer::checkpoint
