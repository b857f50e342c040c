// The times of a run's steps, and which of them stand out. Free of ImGui; any thread.
#pragma once

#include <vector>

#include "trace/analysis/figures/figures.h"

namespace shardlens::ui {

// What is shown of a step, the slowest rank's; null: no rank has reported it.
const trace::StepBreakdown* breakdown_of(const trace::StepFigures& step);
// Not a number where it is not known.
double step_ns_of(const trace::StepFigures& step);

// Whether it is one of the slowest hundredth of the measured steps, and slower than their median by
// more than a tenth: what a table marks.
std::vector<bool> slow_steps(const std::vector<trace::StepFigures>& steps);

}  // namespace shardlens::ui
