// Where NCCL writes its log. Pure functions, any thread.
#pragma once

#include <filesystem>
#include <string_view>

namespace shardlens::profiler::inject {

// What NCCL makes of the value of NCCL_DEBUG_FILE: %h is the host's name up to its first dot, %p
// the process, %% a percent sign (NCCL's ncclDebugInit and getHostName).
std::filesystem::path nccl_log_file(std::string_view pattern, std::string_view host, int process);

}  // namespace shardlens::profiler::inject
