// The collectives that begin in a range: tables of them, put together by name, function, shape and
// unit, and who kept whom waiting. Any thread.
#pragma once

#include <memory>
#include <vector>

#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/values/range_figures.h"
#include "trace/timeline/values/straggler_figures.h"

namespace shardlens::trace::explore {

// In the order of GroupBy. `range.ranks` is obeyed.
std::vector<timeline::RangeTable> collective_tables(const RunSnapshot& run,
                                                    const timeline::TimeRange& range);

// Rows by total, the greatest first; shares and sums of the table.
void complete_table(timeline::RangeTable& table);

// Who kept whom waiting, in all calls in which a rank of the range took part within it. Null until
// every rank's rows were read.
std::shared_ptr<const timeline::StragglerFigures> stragglers_in(const RunSnapshot& run,
                                                                const timeline::TimeRange& range);

// Whether compute hid them: of each collective of the rank kOverlapped or kExposed, of those that
// do not begin in the range the latter. Reads the file.
std::vector<base::TimeClass> collective_classes(const RunSnapshot& run, const RankSnapshot& rank,
                                                const timeline::TimeRange& range);

}  // namespace shardlens::trace::explore
