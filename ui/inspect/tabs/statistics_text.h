// The words of the statistics' tabs. Free of ImGui; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/timeline/values/range_figures.h"

namespace shardlens::ui::inspect {

std::string_view table_title(trace::timeline::StatisticsTable table);             // "Kernels"
std::string counted(std::int64_t count, trace::timeline::StatisticsTable table);  // "3,816 kernels"
std::string_view group_title(trace::timeline::GroupBy group_by);                  // "by size"

// What a search finds the events of a row by: a collective is called by its tag where it has one.
std::string searched_name(trace::timeline::StatisticsTable table, const std::string& name);

// "Reduce-scatter · blocks.6" of "reduce_scatter · blocks.6".
std::string collective_title(std::string_view name);

}  // namespace shardlens::ui::inspect
