#include "trace/explore/run/window_activity.h"

#include <algorithm>

#include "trace/analysis/steps/step_breakdown.h"
#include "trace/explore/run/lane_events.h"

namespace shardlens::trace::explore {

namespace {

// Events without length are left out; those that touch become one interval.
void append_time(std::vector<base::Interval>& to, base::Interval time) {
  if (time.length() <= 0) return;
  if (!to.empty() && time.start_ns >= to.back().start_ns && time.start_ns <= to.back().end_ns) {
    to.back().end_ns = std::max(to.back().end_ns, time.end_ns);
  } else {
    to.push_back(time);
  }
}

}  // namespace

WindowActivity window_activity(store::EventStore& store, const RankSnapshot& rank,
                               base::Interval window, const SeeEvent& see) {
  WindowActivity result;
  result.window = window;
  KernelActivities kernels(store, rank.rank);
  std::vector<base::Interval> compute, communication, copies;
  for (const auto& [lane, kind] : rank.lanes) {
    const bool is_work = kind != model::EventKind::kLaunch &&
                         (kind != model::EventKind::kOperator || rank.operators_compute);
    if (kind == model::EventKind::kAllocation || (!is_work && !see)) continue;
    OverviewLane seen{lane, kind, 0};
    const LaneEvents events(store, rank.rank, lane, kind, window);
    result.is_complete = result.is_complete && events.is_complete();
    events.visit([&](const store::ChunkEntry&, const store::EventColumns& columns, std::size_t i,
                     base::Interval time) {
      if (see) {
        if (kind == model::EventKind::kOperator)
          seen.depth = std::min(columns.depth(i), kOverviewDepths - 1);
        see(seen, time, columns.name(i));
      }
      if (!is_work) return;
      if (kind == model::EventKind::kCopy) return append_time(copies, time);
      if (kind == model::EventKind::kOperator) {
        if ((columns.flags(i) & model::kEventCompute) != 0) append_time(compute, time);
        return;
      }
      const bool computes = kernels.of(columns.name(i)) == model::Activity::kCompute;
      append_time(computes ? compute : communication, time);
    });
  }
  visit_rows(rank.rows->collectives, window,
             [&](std::uint32_t, base::Interval time) { append_time(communication, time); });
  result.compute = base::normalize(std::move(compute));
  result.communication = base::normalize(std::move(communication));
  result.copies = base::normalize(std::move(copies));
  return result;
}

base::Intervals WindowActivity::recorded(const RankSnapshot& rank) const {
  const base::Interval known{rank.extent.start_ns,
                             std::min(rank.extent.end_ns, rank.known_until_ns)};
  if (known.end_ns <= known.start_ns) return {};
  return base::subtract(base::clip({known}, window), rank.rows->undetailed);
}

}  // namespace shardlens::trace::explore
