// The steps of a run as a table: times, parts, phases, loss. Free of ImGui; any thread.
#pragma once

#include <memory>

#include "ui/present/table_model.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

// Columns without a value in any step are left out. Rows are those of run->figures.steps.
std::shared_ptr<const Table> step_table(const std::shared_ptr<const RunView>& run);

}  // namespace shardlens::ui
