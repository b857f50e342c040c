// A step cut into classes without gaps, coarse enough to be drawn: the ribbon. Any thread.
#pragma once

#include <vector>

#include "trace/base/time_partition.h"

namespace shardlens::trace {

struct ClassPiece {
  Interval time;
  TimeClass bar_class = TimeClass::kIdle;

  bool operator==(const ClassPiece&) const = default;
};

// Lengths by class sum to the breakdown.
std::vector<ClassPiece> exact_partition(const ActivitySets& sets, Interval window);

// The same partition with every piece at least `sliver_ns` long, unless the whole is shorter:
// slivers take the class that fills most of their surroundings. Borders of long pieces stay exact.
std::vector<ClassPiece> without_slivers(const std::vector<ClassPiece>& pieces,
                                        std::int64_t sliver_ns);

}  // namespace shardlens::trace
