#include "profiler/recorder/callback_cost.h"

#include <algorithm>

namespace shardlens::profiler::recorder {

std::int64_t CallbackCost::calibrate_ns() {
  // The least of many: anything above it is somebody else's time.
  std::int64_t least = INT64_MAX;
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t start = clock_now_ns();
    least = std::min(least, clock_now_ns() - start);
  }
  return std::max<std::int64_t>(least, 0);
}

}  // namespace shardlens::profiler::recorder
