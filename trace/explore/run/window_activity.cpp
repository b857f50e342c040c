#include "trace/explore/run/window_activity.h"

#include <algorithm>

#include "trace/analysis/steps/step_breakdown.h"
#include "trace/explore/run/lane_events.h"

namespace shardlens::trace {

namespace {

// What a rank's kernels do, by their names: each name is looked at once.
class NameActivities {
 public:
  NameActivities(const EventStore& store, int rank) : store_(store), rank_(rank) {}

  Activity of_kernel(StringId name) {
    if (name >= known_.size()) {
      if (name > kMostKept) return activity_of(EventKind::kKernel, {}, store_.text(rank_, name));
      known_.resize(name + 1, Activity::kNone);
    }
    Activity& known = known_[name];
    // kNone means "not looked at yet": every kernel is some activity.
    if (known == Activity::kNone) {
      known = activity_of(EventKind::kKernel, {}, store_.text(rank_, name));
    }
    return known;
  }

 private:
  static constexpr StringId kMostKept = 1u << 20;
  const EventStore& store_;
  int rank_;
  std::vector<Activity> known_;
};

// Events without length are left out; those that touch become one interval.
void append_time(std::vector<Interval>& to, Interval time) {
  if (time.length() <= 0) return;
  if (!to.empty() && time.start_ns >= to.back().start_ns && time.start_ns <= to.back().end_ns) {
    to.back().end_ns = std::max(to.back().end_ns, time.end_ns);
  } else {
    to.push_back(time);
  }
}

}  // namespace

WindowActivity window_activity(EventStore& store, const RankSnapshot& rank, Interval window,
                               const SeeEvent& see) {
  WindowActivity result;
  result.window = window;
  NameActivities names(store, rank.rank);
  std::vector<Interval> compute, communication, copies;
  for (const auto& [lane, kind] : rank.lanes) {
    const bool is_work =
        kind != EventKind::kLaunch && (kind != EventKind::kOperator || rank.operators_compute);
    if (kind == EventKind::kAllocation || (!is_work && !see)) continue;
    OverviewLane seen{lane, kind, 0};
    const LaneEvents events(store, rank.rank, lane, kind, window);
    result.is_complete = result.is_complete && events.is_complete();
    events.visit([&](const ChunkEntry&, const EventColumns& columns, std::size_t i, Interval time) {
      if (see) {
        if (kind == EventKind::kOperator)
          seen.depth = std::min(columns.depth(i), kOverviewDepths - 1);
        see(seen, time, columns.name(i));
      }
      if (!is_work) return;
      if (kind == EventKind::kCopy) return append_time(copies, time);
      if (kind == EventKind::kOperator) {
        if ((columns.flags(i) & kEventCompute) != 0) append_time(compute, time);
        return;
      }
      const bool computes = names.of_kernel(columns.name(i)) == Activity::kCompute;
      append_time(computes ? compute : communication, time);
    });
  }
  visit_rows(rank.rows->collectives, window,
             [&](std::uint32_t, Interval time) { append_time(communication, time); });
  result.compute = normalize(std::move(compute));
  result.communication = normalize(std::move(communication));
  result.copies = normalize(std::move(copies));
  return result;
}

Ribbon WindowActivity::ribbon(const RankSnapshot& rank, PixelGrid grid) const {
  const Interval recorded{std::max(window.start_ns, rank.extent.start_ns),
                          std::min(window.end_ns, rank.extent.end_ns)};
  if (recorded.length() <= 0) return {};
  return exact_ribbon({compute, communication, copies, rank.rows->optimizer}, recorded, grid);
}

}  // namespace shardlens::trace
