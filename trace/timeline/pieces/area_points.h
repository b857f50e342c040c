// From samples to the points of an area lane, and which ready marks are shown: at most one per
// pixel. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/timeline/pieces/pixel_grid.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::timeline {

struct AreaSample {
  std::int64_t time_ns = 0;
  double value = 0;
};

struct AreaScale {
  double base = 0, top = 1;
};
// What a counter's row shows from its bottom to its top: percents and shares whole, temperatures
// from 20 to 100 °C, watts up to the limit, the rest from 0 to its highest.
AreaScale area_scale(std::string_view unit, double highest, double most_watts);

// `samples` by time. The last one before the window comes first, since its value holds until the
// next.
std::vector<AreaPoint> area_points(std::span<const AreaSample> samples, base::Interval window,
                                   PixelGrid grid);

// `marks` by time. Of several in one column the one of most bytes is shown.
std::vector<ReadyPoint> ready_points(std::span<const ReadyPoint> marks, base::Interval window,
                                     PixelGrid grid);

}  // namespace shardlens::trace::timeline
