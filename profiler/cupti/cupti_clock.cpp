#include "profiler/cupti/cupti_clock.h"

#include "profiler/recorder.h"

namespace shardlens::profiler {

std::optional<ClockOffset> measure_clock_offset(const CuptiApi& api) {
  constexpr int kReadings = 5;
  std::optional<ClockOffset> best;
  for (int i = 0; i < kReadings; ++i) {
    std::uint64_t time = 0;
    const std::int64_t before = Recorder::now_ns();
    if (api.get_timestamp(&time) != CUPTI_SUCCESS || time == 0) return std::nullopt;
    const std::int64_t after = Recorder::now_ns();
    const std::int64_t error = (after - before + 1) / 2;
    if (best && best->error_ns <= error) continue;
    best = ClockOffset{static_cast<std::int64_t>(time) - (before + (after - before) / 2), error};
  }
  return best;
}

}  // namespace shardlens::profiler
