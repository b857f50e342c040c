// All files of a run, opened for reading. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/run/trace_file.h"

namespace shardlens::trace {

// A run's folder: run.sqlite, then the rank files by rank. A packed file: that one. With
// `left_out`, ranks whose file cannot be opened are told there, as long as another can be.
Result<std::vector<TraceFile>> open_run_files(const std::filesystem::path& run,
                                              std::vector<std::string>* left_out = nullptr);
std::vector<Database*> databases_of(std::vector<TraceFile>& files);

}  // namespace shardlens::trace
