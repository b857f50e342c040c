// From samples to the points of an area lane, at most one per pixel. Pure function, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/analysis/intervals.h"
#include "trace/timeline/picture.h"
#include "trace/timeline/pixel_grid.h"

namespace shardlens::trace {

struct AreaSample {
  std::int64_t time_ns = 0;
  double value = 0;
};

// `samples` by time. The last one before the window comes first, since its value holds until the
// next.
std::vector<AreaPoint> area_points(std::span<const AreaSample> samples, Interval window,
                                   PixelGrid grid);

}  // namespace shardlens::trace
