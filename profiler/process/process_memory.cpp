#include "profiler/process/process_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>

namespace shardlens::profiler::process {

ProcessMemory read_process_memory() {
  // statm costs microseconds; smaps_rollup walks the page tables, which takes milliseconds.
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::array<char, 256> text{};
  const ssize_t length = read(file, text.data(), text.size() - 1);
  close(file);
  long long size = 0, resident = 0, shared = 0;
  if (length <= 0 || std::sscanf(text.data(), "%lld %lld %lld", &size, &resident, &shared) != 3)
    return {};
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  return {resident * page, (resident - shared) * page};
}

}  // namespace shardlens::profiler::process
