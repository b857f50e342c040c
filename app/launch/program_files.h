// What lies beside the running program: rank processes, benchmarks. Any thread.
#pragma once

#include <filesystem>
#include <string_view>

#include "trace/base/result.h"

namespace shardlens::app::launch {

inline constexpr std::string_view kRankProgram = "shardlens-rank";
inline constexpr std::string_view kRecordLibrary = "libshardlens-record.so";

// The folder of the running executable.
std::filesystem::path program_folder();
// What came with the program, of `assets`: beside the source tree of a build folder, or where an
// installation puts it; "": it is not there.
std::filesystem::path bundled_folder(std::string_view name);
std::filesystem::path bundled_runs();  // recorded ones
// Error kMissing says how to build it.
trace::base::Result<std::filesystem::path> find_rank_program();
// What records a program from inside. As above.
trace::base::Result<std::filesystem::path> find_record_library();

}  // namespace shardlens::app::launch
