#include "profiler/recorder/callback_cost.h"

#include <chrono>

#include "profiler/recorder/tick_counter.h"

namespace shardlens::profiler::recorder {
namespace {

std::int64_t wall_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::uint64_t CallbackClock::now() const {
  return reads_counter_ ? read_ticks() : static_cast<std::uint64_t>(wall_ns());
}

CallbackClock CallbackClock::calibrate() {
  constexpr std::int64_t kSpanNs = 1'000'000;
  CallbackClock clock;
  clock.reads_counter_ = tick_counter_is_steady();
  const std::int64_t from_ns = wall_ns();
  const std::uint64_t from = clock.now();
  // The least of many: anything above it is somebody else's time.
  std::int64_t least = INT64_MAX, to_ns = from_ns;
  while (to_ns - from_ns < kSpanNs) {
    const std::uint64_t start = clock.now();
    least = std::min(least, static_cast<std::int64_t>(clock.now() - start));
    to_ns = wall_ns();
  }
  const std::uint64_t ticks = clock.now() - from;
  if (clock.reads_counter_ && ticks > 0)
    clock.ns_per_tick_ = static_cast<double>(to_ns - from_ns) / static_cast<double>(ticks);
  clock.reading_ = std::max<std::int64_t>(least, 0);
  return clock;
}

}  // namespace shardlens::profiler::recorder
