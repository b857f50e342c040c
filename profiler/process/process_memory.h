// What the kernel says of this process's memory. Any thread.
#pragma once

#include <cstdint>

namespace shardlens::profiler::process {

struct ProcessMemory {
  std::int64_t resident_bytes = 0;
  std::int64_t anonymous_bytes = 0;  // resident and not backed by a file or shared (RssAnon)
};
// Zeros if /proc is not there.
ProcessMemory read_process_memory();

}  // namespace shardlens::profiler::process
