#include "profiler/pytorch/tick_clock.h"

#include <cstdlib>

namespace shardlens::profiler::pytorch {
namespace {

// Until then the wall clock itself is read: a rate from less would be off by more than a
// millionth.
constexpr std::int64_t kBaselineNs = 20'000'000;
constexpr double kAnchorIntervalNs = 1e6;
// By how much the two differ within an interval only if the wall clock was set.
constexpr std::int64_t kWasSetNs = 100'000;

}  // namespace

std::int64_t TickClock::anchor() {
  const std::uint64_t before = recorder::read_ticks();
  const std::int64_t now = recorder::Recorder::now_ns();
  const std::uint64_t after = recorder::read_ticks();
  const std::uint64_t ticks = before + (after - before) / 2;
  const bool was_set = ticks_per_anchor_ != 0 &&
                       std::llabs(anchor_ns_ +
                                  static_cast<std::int64_t>(
                                      static_cast<double>(ticks - anchor_ticks_) * ns_per_tick_) -
                                  now) > kWasSetNs;
  if (first_ns_ == 0 || was_set) {
    first_ticks_ = ticks;
    first_ns_ = now;
    ticks_per_anchor_ = 0;
    return last_ns_ = now;
  }
  last_ns_ = now > last_ns_ ? now : last_ns_;
  if (now - first_ns_ < kBaselineNs) return last_ns_;
  const double rate =
      static_cast<double>(now - first_ns_) / static_cast<double>(ticks - first_ticks_);
  // Something came between the two readings: the next look is better.
  constexpr double kLongestReadingNs = 1'000;
  if (static_cast<double>(after - before) * rate > kLongestReadingNs) return last_ns_;
  ns_per_tick_ = rate;
  ticks_per_anchor_ = static_cast<std::uint64_t>(kAnchorIntervalNs / rate);
  anchor_ticks_ = ticks;
  anchor_ns_ = now;
  return last_ns_;
}

}  // namespace shardlens::profiler::pytorch
