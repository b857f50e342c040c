// All that differs between two runs as one table: parts of a step, phases, operators, collectives,
// buckets or units, memory. Free of ImGui; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/analysis/compare/run_difference.h"
#include "ui/present/table_model.h"

namespace shardlens::ui::present {

// "All" first, then those of which there is anything.
std::vector<std::string_view> difference_kinds(const trace::analysis::RunDifference& difference);

// `kind`: one of these. The greatest difference first, times before sizes; `first` and `second`:
// what the runs are called. The difference is shared with the table.
std::shared_ptr<const Table> difference_table(
    const std::shared_ptr<const trace::analysis::RunDifference>& difference, std::string_view kind,
    const std::string& first, const std::string& second);

}  // namespace shardlens::ui::present
