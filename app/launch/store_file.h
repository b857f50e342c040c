// The file through which the ranks of a job meet. Any thread.
#pragma once

#include <filesystem>

namespace shardlens::app::launch {

// A path that was never used before, which c10d's FileStore needs.
std::filesystem::path fresh_store_file(const std::filesystem::path& run_folder);
// Removes those in the runs of a library whose launcher was killed before it could.
void remove_abandoned_store_files(const std::filesystem::path& runs_dir);

}  // namespace shardlens::app::launch
