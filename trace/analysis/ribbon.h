// A step cut into classes without gaps, coarse enough to be drawn: the ribbon. Any thread.
#pragma once

#include <vector>

#include "trace/analysis/intervals.h"
#include "trace/analysis/step_timeline.h"

namespace shardlens::trace {

struct RibbonInput {  // absolute times; clipped to the step
  Interval step;
  Intervals compute, communication, copies;
  Intervals optimizer;  // the optimizer phase
};

struct ClassPiece {
  Interval time;
  BarClass bar_class = BarClass::kIdle;

  bool operator==(const ClassPiece&) const = default;
};

// The exact partition. Compute under communication counts as overlapped; then compute (the
// optimizer's apart), exposed communication, copies, idle. Lengths by class sum to the breakdown.
std::vector<ClassPiece> exact_partition(const RibbonInput& input);

// The same partition with every piece at least `sliver_ns` long, unless the whole is shorter:
// slivers take the class that fills most of their surroundings. Borders of long pieces stay exact.
std::vector<ClassPiece> without_slivers(const std::vector<ClassPiece>& pieces,
                                        std::int64_t sliver_ns);

}  // namespace shardlens::trace
