// How far CUPTI's clock is from the host's, CLOCK_REALTIME, in which everything else is recorded.
// The flush thread only.
#pragma once

#include <cstdint>
#include <optional>

#include "profiler/cupti/cupti_api.h"

namespace shardlens::profiler {

struct ClockOffset {
  std::int64_t offset_ns = 0;  // CUPTI's minus the host's
  std::int64_t error_ns = 0;   // of the offset, at most: half of the round trip
};

// The best of several readings between two of the host's clock. None if CUPTI gives no time.
std::optional<ClockOffset> measure_clock_offset(const CuptiApi& api);

}  // namespace shardlens::profiler
