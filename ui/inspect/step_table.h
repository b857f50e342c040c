// The steps of a run as a table: times, parts, phases, loss. Free of ImGui; any thread.
#pragma once

#include <memory>

#include "ui/inspect/table_model.h"
#include "ui/snapshot.h"

namespace shardlens::ui {

// Columns without a value in any step are left out. Rows are those of run->figures.steps.
std::shared_ptr<const Table> step_table(const std::shared_ptr<const RunView>& run);

// Whether it is one of the slowest hundredth of the measured steps, and slower than their median by
// more than a tenth: what a table marks.
std::vector<bool> slow_steps(const std::vector<trace::StepFigures>& steps);

}  // namespace shardlens::ui
