// Whether collectives ran under compute or had nothing to hide them. Any thread; reads the file.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/range_figures.h"

namespace shardlens::trace {

// What is decoded at once: so many nanoseconds.
inline constexpr std::int64_t kClassStretchNs = 5'000'000'000;

// One per collective of the rank, kOverlapped or kExposed; those that do not begin in the range are
// kExposed.
std::vector<TimeClass> collective_classes(const RunSnapshot& run, const RankSnapshot& rank,
                                          const TimeRange& range,
                                          std::int64_t stretch_ns = kClassStretchNs);

}  // namespace shardlens::trace
