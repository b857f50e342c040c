// Statistics of everything that begins in a range of time: kernels, operators, launches and copies
// from chunks, collectives from rows. Exact, whatever the number of events. Any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "trace/base/result.h"
#include "trace/explore/tally/run_tally.h"
#include "trace/model/events.h"
#include "trace/store/chunk/event_store.h"
#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/range_figures.h"

namespace shardlens::trace::explore {

// The collectives of one rank, in any order.
// When the last rank of a collective's group started it; no ranks: not known.
struct CallStart {
  std::int64_t latest_ns = 0;
  int ranks = 0;
};

struct CollectiveRows {
  int rank = 0;
  std::span<const model::Collective> rows;
  std::span<const std::int64_t> row_ids;  // of each; or empty: `longest` is then not told
  std::function<std::string_view(model::StringId)> text;
  // Of each, kOverlapped or kExposed; or empty: a row of the table is then kExposed. Else it has
  // the class of the greater part of its time.
  std::span<const base::TimeClass> classes;
  std::function<CallStart(std::size_t index)> call_start =
      {};                                                     // of each; none: waits are not known
  std::function<std::string_view(int index)> unit_name = {};  // "" or none: it has none
  std::function<bool(std::size_t index)> is_timed = {};       // of each; none: all times are known
};

// Tables by name, the four of collectives one after the other. About 5 ns per event and core for
// what is in the store's cache. `wanted` is asked between chunks; false gives up with kFailed.
// Chunks that cannot be read are left out and told in `incomplete`. `known`: of all chunks of the
// run; where they are just those of the range, no first pass is needed.
base::Result<timeline::RangeFigures> range_statistics(
    store::EventStore& store, std::span<const CollectiveRows> collectives,
    const timeline::TimeRange& range, const std::function<bool()>& wanted = {},
    std::shared_ptr<const RunTotals> known = nullptr);

// While the events are still being scanned: tables of chunks alone, without quantiles, histograms
// and collectives. `fraction` of its chunks were seen.
timeline::RangeFigures statistics_so_far(const store::EventStore& store, const RunTotals& totals,
                                         const timeline::TimeRange& range, double fraction);

}  // namespace shardlens::trace::explore
