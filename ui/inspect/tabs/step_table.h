// The steps of a run as a table: times, parts, phases, loss. Free of ImGui; any thread.
#pragma once

#include <memory>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "ui/present/table_model.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::inspect {

// Columns without a value in any step are left out. Rows are those of run->figures.steps.
std::shared_ptr<const present::Table> step_table(const std::shared_ptr<const state::RunView>& run);

// What is shown of a step, the slowest rank's; null: no rank has reported it.
const trace::analysis::StepBreakdown* breakdown_of(const trace::analysis::StepFigures& step);
// Not a number where it is not known.
double step_ns_of(const trace::analysis::StepFigures& step);

// Whether it is one of the slowest hundredth of the measured steps, and slower than their median by
// more than a tenth: what a table marks.
std::vector<bool> slow_steps(const std::vector<trace::analysis::StepFigures>& steps);

}  // namespace shardlens::ui::inspect
