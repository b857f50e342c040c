// Which ranks a run has. Any thread.
#pragma once

#include <filesystem>
#include <map>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace {

// The rank files that lie in a run's folder now, by rank.
std::map<int, std::filesystem::path> rank_files(const std::filesystem::path& run_folder);
// The ranks whose rows a trace file holds.
Result<std::vector<int>> ranks_in(Database& database);

}  // namespace shardlens::trace
