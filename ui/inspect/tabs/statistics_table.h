// Statistics of a range as a table: a row per name. Free of ImGui; any thread.
#pragma once

#include <memory>

#include "ui/present/table_model.h"
#include "ui/state/inspect_view.h"

namespace shardlens::ui::inspect {

// null: the range has no such table.
const trace::timeline::RangeTable* find_range_table(const trace::timeline::RangeFigures& figures,
                                                    trace::timeline::StatisticsTable table,
                                                    trace::timeline::GroupBy group_by);

// Columns without a value in any row are left out.
std::shared_ptr<const present::Table> statistics_table(
    const std::shared_ptr<const trace::timeline::RangeFigures>& figures,
    const trace::timeline::RangeTable& table);

}  // namespace shardlens::ui::inspect
