#include "profiler/cupti/memory_join.h"

#include <algorithm>
#include <utility>

namespace shardlens::profiler {

void MemoryJoin::add(const MemoryActivity& memory) {
  if (memory.time_ns <= 0) return sink_.bad_timestamps();
  if (!memory.is_release) {
    live_[memory.address] = memory;
    return;
  }
  const auto found = live_.find(memory.address);
  if (found == live_.end()) return;  // older than the recording
  const MemoryActivity allocated = found->second;
  live_.erase(found);
  if (memory.time_ns < allocated.time_ns) return sink_.bad_timestamps();
  sink_.allocation(allocated, memory.time_ns);
}

void MemoryJoin::finish(std::int64_t now_ns) {
  for (const auto& [address, memory] : std::exchange(live_, {})) {
    sink_.allocation(memory, std::max(now_ns, memory.time_ns));
  }
}

}  // namespace shardlens::profiler
