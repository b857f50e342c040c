#include "profiler/recorder/callback_cost.h"

#include <chrono>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace shardlens::profiler::recorder {
namespace {

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

bool tick_counter_is_steady() {
#if defined(__x86_64__)
  static const bool is_steady = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned kPowerManagement = 0x8000'0007, kInvariantCounter = 1u << 8;
    return __get_cpuid(kPowerManagement, &a, &b, &c, &d) != 0 && (d & kInvariantCounter) != 0;
  }();
  return is_steady;
#else
  return false;
#endif
}

std::uint64_t CallbackClock::now() const {
  return reads_counter_ ? read_ticks() : static_cast<std::uint64_t>(steady_ns());
}

CallbackClock CallbackClock::calibrate() {
  constexpr std::int64_t kSpanNs = 1'000'000;
  CallbackClock clock;
  clock.reads_counter_ = tick_counter_is_steady();
  const std::int64_t from_ns = steady_ns();
  const std::uint64_t from = clock.now();
  // The least of many: anything above it is somebody else's time.
  std::int64_t least = INT64_MAX, to_ns = from_ns;
  while (to_ns - from_ns < kSpanNs) {
    const std::uint64_t start = clock.now();
    least = std::min(least, static_cast<std::int64_t>(clock.now() - start));
    to_ns = steady_ns();
  }
  const std::uint64_t ticks = clock.now() - from;
  if (clock.reads_counter_ && ticks > 0)
    clock.ns_per_tick_ = static_cast<double>(to_ns - from_ns) / static_cast<double>(ticks);
  clock.reading_ = std::max<std::int64_t>(least, 0);
  return clock;
}

}  // namespace shardlens::profiler::recorder
