// A step cut into classes without gaps, coarse enough to be drawn: the ribbon. Any thread.
#pragma once

#include <vector>

#include "trace/base/time_partition.h"

namespace shardlens::trace::analysis {

struct ClassPiece {
  base::Interval time;
  base::TimeClass bar_class = base::TimeClass::kIdle;

  bool operator==(const ClassPiece&) const = default;
};

// Lengths by class sum to the breakdown.
std::vector<ClassPiece> exact_partition(const base::ActivitySets& sets, base::Interval window);

// The same partition with every piece at least `sliver_ns` long, unless the whole is shorter:
// slivers take the class that fills most of their surroundings. Borders of long pieces stay exact.
std::vector<ClassPiece> without_slivers(const std::vector<ClassPiece>& pieces,
                                        std::int64_t sliver_ns);

}  // namespace shardlens::trace::analysis
