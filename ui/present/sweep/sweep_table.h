// A sweep's points as a table. Free of ImGui; any thread.
#pragma once

#include <memory>

#include "ui/present/table_model.h"
#include "ui/state/sweep_view.h"

namespace shardlens::ui::present {

// Row i is the sweep's point i. Columns that are empty in all rows are left out.
Table sweep_table(const std::shared_ptr<const state::ShownSweep>& sweep);

}  // namespace shardlens::ui::present
