// The collectives of a range: what statistics and stragglers are counted from. Any thread.
#pragma once

#include <vector>

#include "trace/explore/run/run_snapshot.h"
#include "trace/explore/statistics/range_statistics.h"
#include "trace/timeline/values/range_figures.h"
#include "trace/timeline/values/straggler_figures.h"

namespace shardlens::trace {

struct RunCollectives {
  std::vector<CollectiveRows> rows;             // of each rank all of them
  std::vector<std::vector<TimeClass>> classes;  // what `rows` refer to
};
// Views into the snapshot, which outlives them. Classes are known of those in the range.
RunCollectives collective_rows(const RunSnapshot& run, const TimeRange& range);

// Of all calls in which a rank of the range took part within it. Null until every rank's rows were
// read.
std::shared_ptr<const StragglerFigures> stragglers_in(const RunSnapshot& run,
                                                      const TimeRange& range);

}  // namespace shardlens::trace
