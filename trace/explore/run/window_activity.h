// What a rank did in a window, as sets of time from its events: what ribbons and exposure follow
// from. Any thread.
#pragma once

#include <algorithm>
#include <functional>

#include "trace/base/intervals.h"
#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/values/drawn_event.h"

namespace shardlens::trace::explore {

struct WindowActivity {
  base::Interval window;
  base::Intervals compute, communication, copies;
  bool is_complete = true;

  // Where a time without events was idle: not in steps that were recorded without them, nor where
  // a GPU's may still come, or are lost.
  base::Intervals recorded(const RankSnapshot& rank) const;
};

// `see`, if any, is called for each event but allocations, those of a lane in order of start.
using SeeEvent =
    std::function<void(const OverviewLane&, base::Interval time, model::StringId name)>;
WindowActivity window_activity(store::EventStore& store, const RankSnapshot& rank,
                               base::Interval window, const SeeEvent& see = {});

// Calls visit(index) for the rows that touch the window, by start.
template <typename Row, typename Visit>
void visit_rows(const TimedRows<Row>& timed, base::Interval window, Visit&& visit) {
  const auto first =
      std::ranges::lower_bound(timed.latest_end, window.start_ns) - timed.latest_end.begin();
  for (auto i = static_cast<std::uint32_t>(first); i < timed.size(); ++i) {
    const base::Interval time = timeline::drawn_time(timed.rows[i].start_ns, timed.rows[i].end_ns);
    if (time.start_ns >= window.end_ns) break;
    if (timeline::is_drawn_in(time, window)) visit(i, time);
  }
}

}  // namespace shardlens::trace::explore
