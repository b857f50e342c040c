// Which files and ranks a run has, and all of them opened for reading. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

// "rank_12.sqlite" is 12; none of other names.
std::optional<int> rank_of_file_name(std::string_view name);
// The rank files that lie in a run's folder now, by rank.
std::map<int, std::filesystem::path> rank_files(const std::filesystem::path& run_folder);
// All of a run: its run.sqlite, then the rank files by rank; of a packed file that one.
std::vector<std::filesystem::path> files_of_run(const std::filesystem::path& run);
// Of a file and its WAL, as far as they are there.
std::int64_t bytes_with_wal(const std::filesystem::path& file);
// One of the rank files. kForeign: it is of another run, since that was recorded at another time
// than this one; as far as clocks tell, which may be a minute off.
base::Result<TraceFile> open_rank_file(const std::filesystem::path& run_folder,
                                       const std::filesystem::path& file);
// The ranks whose rows a trace file holds.
base::Result<std::vector<int>> ranks_in(Database& database);

// A run's folder: run.sqlite, then the rank files by rank. A packed file: that one. With
// `left_out`, ranks whose file cannot be opened are told there, as long as another can be.
base::Result<std::vector<TraceFile>> open_run_files(const std::filesystem::path& run,
                                                    std::vector<std::string>* left_out = nullptr);
std::vector<Database*> databases_of(std::vector<TraceFile>& files);

}  // namespace shardlens::trace::store
