// The cells of an overview for a window, summed from all events and rows in it. Any thread.
#pragma once

#include <map>
#include <vector>

#include "trace/explore/run/overview_cells.h"
#include "trace/explore/run/run_snapshot.h"

namespace shardlens::trace::explore {

struct WindowCells {
  std::map<OverviewLane, std::vector<OverviewCell>> lanes;  // those with events
  std::vector<base::TimeByClass> classes;  // what the rank did not record is in no class
};

// `cells`: the first of the window and one behind its last. Decodes what is not in the cache; what
// cannot be read is left out.
WindowCells window_cells(store::EventStore& store, const RankSnapshot& rank, int cell_bits,
                         base::Interval cells);

}  // namespace shardlens::trace::explore
