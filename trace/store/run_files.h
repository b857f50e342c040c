// All files of a run, opened for reading. Any thread.
#pragma once

#include <filesystem>
#include <vector>

#include "trace/model/result.h"
#include "trace/store/trace_file.h"

namespace shardlens::trace {

// A run's folder: run.sqlite, then the rank files by rank. A packed file: that one.
Result<std::vector<TraceFile>> open_run_files(const std::filesystem::path& run);
std::vector<Database*> databases_of(std::vector<TraceFile>& files);

}  // namespace shardlens::trace
