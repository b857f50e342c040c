// Statistics of everything that begins in a range of time: kernels, operators, launches and copies
// from chunks, collectives from rows. Exact, whatever the number of events. Any thread.
#pragma once

#include <functional>

#include "trace/base/result.h"
#include "trace/explore/run/run_snapshot.h"
#include "trace/explore/tally/run_tally.h"
#include "trace/store/chunk/event_store.h"
#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/range_figures.h"

namespace shardlens::trace::explore {

// Tables by name, the four of collectives one after the other. About 5 ns per event and core for
// what is in the store's cache. `wanted` is asked between chunks; false gives up with kFailed.
// Chunks that cannot be read are left out and told in `incomplete`. Where the run's totals are
// known and are just those of the range, no first pass is needed.
base::Result<timeline::RangeFigures> range_statistics(const RunSnapshot& run,
                                                      const timeline::TimeRange& range,
                                                      const std::function<bool()>& wanted = {});

// While the events are still being scanned: tables of chunks alone, without quantiles, histograms
// and collectives. `fraction` of its chunks were seen.
timeline::RangeFigures statistics_so_far(const store::EventStore& store, const RunTotals& totals,
                                         const timeline::TimeRange& range, double fraction);

}  // namespace shardlens::trace::explore
