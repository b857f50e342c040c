// The clock of everything in a trace, CLOCK_REALTIME, and that of a thread, in nanoseconds. Any
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>

namespace shardlens::trace::base {

inline std::int64_t wall_clock_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// For how long the thread that asks has computed so far.
inline std::int64_t thread_cpu_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace shardlens::trace::base
