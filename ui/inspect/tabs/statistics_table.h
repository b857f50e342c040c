// Statistics of a range as a table, a row per name; the words of their tabs, and what their figures
// are of. Free of ImGui; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// ---- words -----------------------------------------------------------------------------------

std::string_view table_title(trace::timeline::StatisticsTable table);             // "Kernels"
std::string counted(std::int64_t count, trace::timeline::StatisticsTable table);  // "3,816 kernels"
std::string_view group_title(trace::timeline::GroupBy group_by);                  // "by size"

// What a search finds the events of a row by: a collective is called by its tag where it has one.
std::string searched_name(trace::timeline::StatisticsTable table, const std::string& name);

// "Reduce-scatter · blocks.6" of "reduce_scatter · blocks.6".
std::string collective_title(std::string_view name);

// The same in fewer and fewer words, the longest first: "in the selection: 126.4 ms on 8 ranks ·
// 3,816 kernels · computed in 4 ms", …, "126.4 ms". `table`: whose events are counted.
std::vector<std::string> range_notes(const state::InspectView& view,
                                     std::optional<trace::timeline::StatisticsTable> table);

// What an event must be to count, and what could not be read: for the tooltip.
std::string range_definition(const state::InspectView& view);

}  // namespace shardlens::ui::inspect
