// The clock of traces: CLOCK_REALTIME in nanoseconds. Any thread.
#pragma once

#include <chrono>
#include <cstdint>

namespace shardlens::app {

inline std::int64_t wall_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace shardlens::app
