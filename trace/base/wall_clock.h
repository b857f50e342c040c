// The clock of everything in a trace: CLOCK_REALTIME in nanoseconds. Any thread.
#pragma once

#include <chrono>
#include <cstdint>

namespace shardlens::trace::base {

inline std::int64_t wall_clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace shardlens::trace::base
