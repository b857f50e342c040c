// Whether collectives ran under compute or had nothing to hide them. Any thread; reads the file.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/range_figures.h"

namespace shardlens::trace {

inline constexpr std::int64_t kLongestExactRange = 500'000'000;

// One per collective of the rank, kOverlapped or kExposed; those that do not begin in the range are
// kExposed. Exact in a range of up to `longest_exact`; in a longer one it follows from the
// pyramid's ribbon, that is, from what most of the rank's communication in the same milliseconds
// did.
std::vector<TimeClass> collective_classes(const RunSnapshot& run, const RankSnapshot& rank,
                                          const TimeRange& range,
                                          std::int64_t longest_exact = kLongestExactRange);

}  // namespace shardlens::trace
