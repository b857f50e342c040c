// The collectives of a range: what statistics and stragglers are counted from. Any thread.
#pragma once

#include <vector>

#include "trace/explore/range_statistics.h"
#include "trace/explore/run_snapshot.h"
#include "trace/timeline/range_figures.h"
#include "trace/timeline/straggler_figures.h"

namespace shardlens::trace {

// Of each rank all of them; views into the snapshot, which outlives them.
std::vector<CollectiveRows> collective_rows(const RunSnapshot& run);

// Of all calls in which a rank of the range took part within it. Null until every rank's rows were
// read.
std::shared_ptr<const StragglerFigures> stragglers_in(const RunSnapshot& run,
                                                      const TimeRange& range);

}  // namespace shardlens::trace
