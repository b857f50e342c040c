// Ready marks of a window, at most one per pixel. Pure function, any thread.
#pragma once

#include <span>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/timeline/pieces/pixel_grid.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace {

// `marks` by time. Of several in one column the one of most bytes is shown.
std::vector<ReadyPoint> ready_points(std::span<const ReadyPoint> marks, Interval window,
                                     PixelGrid grid);

}  // namespace shardlens::trace
