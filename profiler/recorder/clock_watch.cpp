#include "profiler/recorder/clock_watch.h"

#include <cstdlib>
#include <ctime>

#include "trace/base/wall_clock.h"

namespace shardlens::profiler::recorder {
namespace {

std::int64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

ClockOffset ClockWatch::read() {
  const auto realtime = [] { return std::optional(trace::base::wall_clock_ns()); };
  return *measure_clock_offset(realtime, monotonic_ns);
}

std::optional<std::int64_t> ClockWatch::moved(const ClockOffset& now) {
  if (!known_) {
    known_ = now;
    return std::nullopt;
  }
  const std::int64_t difference = now.offset_ns - known_->offset_ns;
  // A reading that was preempted is off by as much as it is doubtful.
  const bool is_moved = std::abs(difference) - now.error_ns - known_->error_ns > kLeastNs;
  if (is_moved || now.error_ns < known_->error_ns) known_ = now;
  return is_moved ? std::optional(difference) : std::nullopt;
}

}  // namespace shardlens::profiler::recorder
