// A collective as it is drawn: its parts under compute and those with nothing to hide them. Pure
// functions, any thread.
#pragma once

#include <vector>

#include "trace/base/intervals.h"
#include "trace/timeline/pieces/pixel_grid.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::timeline {

// What most of it is: overlapped or exposed. An empty one is exposed unless it lies in compute.
base::TimeClass communication_class(base::Interval time, const base::Intervals& compute);

// Replaces every piece that is one event of at least a column by its overlapped and exposed parts,
// none shorter than a column; all of them refer to the event and carry its name and whole length.
std::vector<Piece> split_by_exposure(const std::vector<Piece>& pieces,
                                     const base::Intervals& compute, PixelGrid grid);

}  // namespace shardlens::trace::timeline
