// How far CUPTI's clock is from the host's, CLOCK_REALTIME, in which everything else is recorded.
// The flush thread only.
#pragma once

#include <optional>

#include "profiler/clock_offset.h"
#include "profiler/cupti/cupti_api.h"

namespace shardlens::profiler {

// CUPTI's time minus the host's. None if CUPTI gives no time.
std::optional<ClockOffset> cupti_clock_offset(const CuptiApi& api);

}  // namespace shardlens::profiler
