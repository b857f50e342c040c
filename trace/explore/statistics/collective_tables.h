// Tables of the collectives that begin in a range, put together by name, function, shape and unit.
// Pure functions, any thread.
#pragma once

#include <span>
#include <vector>

#include "trace/explore/statistics/range_statistics.h"

namespace shardlens::trace::explore {

// In the order of GroupBy. `range.ranks` is obeyed.
std::vector<timeline::RangeTable> collective_tables(std::span<const CollectiveRows> collectives,
                                                    const timeline::TimeRange& range);

// Whether a range takes in a rank.
bool has_rank(const timeline::TimeRange& range, int rank);
// Rows by total, the greatest first; shares and sums of the table.
void complete_table(timeline::RangeTable& table);

}  // namespace shardlens::trace::explore
