// Where the time of one rank's step went, from intervals. Definitions: docs/NUMBERS.md. Any thread.
#pragma once

#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/base/intervals.h"
#include "trace/model/activity.h"

namespace shardlens::trace::analysis {

// What happened around one rank's step; may reach beyond its borders, where it is clipped.
struct StepActivity {
  base::Interval step;
  bool full_detail = false;
  base::Intervals compute, communication, copies;
  std::vector<model::PhaseInterval> phases;  // sorted
};

StepBreakdown break_down(const StepActivity& activity);

}  // namespace shardlens::trace::analysis
