// The collectives of a range: what statistics and stragglers are counted from. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/explore/run/run_snapshot.h"
#include "trace/explore/statistics/range_statistics.h"
#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/range_figures.h"
#include "trace/timeline/values/straggler_figures.h"

namespace shardlens::trace::explore {

struct RunCollectives {
  std::vector<CollectiveRows> rows;                   // of each rank all of them
  std::vector<std::vector<base::TimeClass>> classes;  // what `rows` refer to
};
// Views into the snapshot, which outlives them. Classes are known of those in the range.
RunCollectives collective_rows(const RunSnapshot& run, const timeline::TimeRange& range);

// Of all calls in which a rank of the range took part within it. Null until every rank's rows were
// read.
std::shared_ptr<const timeline::StragglerFigures> stragglers_in(const RunSnapshot& run,
                                                                const timeline::TimeRange& range);

// Whether collectives ran under compute or had nothing to hide them. Reads the file.
// What is decoded at once: so many nanoseconds.
inline constexpr std::int64_t kClassStretchNs = 5'000'000'000;

// One per collective of the rank, kOverlapped or kExposed; those that do not begin in the range are
// kExposed.
std::vector<base::TimeClass> collective_classes(const RunSnapshot& run, const RankSnapshot& rank,
                                                const timeline::TimeRange& range,
                                                std::int64_t stretch_ns = kClassStretchNs);

}  // namespace shardlens::trace::explore
