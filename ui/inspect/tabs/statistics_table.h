// Statistics of a range as a table: a row per name. Free of ImGui; any thread.
#pragma once

#include <memory>

#include "ui/present/table_model.h"
#include "ui/state/inspect_view.h"

namespace shardlens::ui {

// null: the range has no such table.
const trace::RangeTable* find_range_table(const trace::RangeFigures& figures,
                                          trace::StatisticsTable table, trace::GroupBy group_by);

// Columns without a value in any row are left out.
std::shared_ptr<const Table> statistics_table(
    const std::shared_ptr<const trace::RangeFigures>& figures, const trace::RangeTable& table);

}  // namespace shardlens::ui
