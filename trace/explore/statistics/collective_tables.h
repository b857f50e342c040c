// Tables of the collectives that begin in a range, put together by name, function, shape and unit.
// Any thread.
#pragma once

#include <vector>

#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/values/range_figures.h"

namespace shardlens::trace::explore {

// In the order of GroupBy. `range.ranks` is obeyed.
std::vector<timeline::RangeTable> collective_tables(const RunSnapshot& run,
                                                    const timeline::TimeRange& range);

// Whether a range takes in a rank.
bool has_rank(const timeline::TimeRange& range, int rank);
// Rows by total, the greatest first; shares and sums of the table.
void complete_table(timeline::RangeTable& table);

}  // namespace shardlens::trace::explore
