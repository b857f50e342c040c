// Notices that somebody sets the clock in which a run is recorded. One thread.
#pragma once

#include <cstdint>
#include <optional>

#include "profiler/recorder/clock_offset.h"

namespace shardlens::profiler {

class ClockWatch {
 public:
  static constexpr std::int64_t kLeastNs = 1'000'000;

  // CLOCK_REALTIME minus CLOCK_MONOTONIC. The kernel slews both alike, so that only who sets the
  // first, or a suspended machine, changes it.
  static ClockOffset read();

  // By how many ns the clock was set since it was last told, if that is certainly above kLeastNs.
  std::optional<std::int64_t> moved(const ClockOffset& now);

 private:
  std::optional<ClockOffset> known_;
};

}  // namespace shardlens::profiler
