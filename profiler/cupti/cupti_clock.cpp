#include "profiler/cupti/cupti_clock.h"

#include <cstdint>

#include "profiler/recorder.h"

namespace shardlens::profiler {

std::optional<ClockOffset> cupti_clock_offset(const CuptiApi& api) {
  const auto cupti = [&api]() -> std::optional<std::int64_t> {
    std::uint64_t time = 0;
    if (api.get_timestamp(&time) != CUPTI_SUCCESS || time == 0) return std::nullopt;
    return static_cast<std::int64_t>(time);
  };
  return measure_clock_offset(cupti, Recorder::now_ns);
}

}  // namespace shardlens::profiler
