// The processor's own counter of time: reading it costs a third of a clock's, and does not wait for
// what was begun before. Any thread.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#else
#include <chrono>
#endif

namespace shardlens::profiler::recorder {

// Whether it ticks at one rate, also while the processor sleeps or changes its own.
bool tick_counter_is_steady();

// In units of its own; steady_clock's where there is no such counter.
inline std::uint64_t read_ticks() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

}  // namespace shardlens::profiler::recorder
