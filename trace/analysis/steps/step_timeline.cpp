#include "trace/analysis/steps/step_timeline.h"

#include <algorithm>
#include <map>
#include <utility>

#include "trace/analysis/figures/labels.h"
#include "trace/analysis/steps/collective_calls.h"
#include "trace/analysis/steps/communication_lanes.h"
#include "trace/analysis/steps/ribbon.h"

namespace shardlens::trace {

namespace {

// Gaps and pieces below these parts of a step cannot be seen when the step fills the window.
constexpr std::int64_t kShortestParts = 4000;
constexpr std::int64_t kSliverParts = 1000;

// Who waited for whom in a step.
class StepWaits {
 public:
  StepWaits(const std::vector<Collective>& collectives, const StepContext& context)
      : rank_count_(context.ranks.size()) {
    for (const auto& group : context.process_groups) {
      for (const int rank : group.ranks) groups_[{group.id, rank}] = &group;
    }
    std::map<int, std::uint32_t> counts;  // by rank
    std::vector<CollectivePart> parts;
    for (const auto& row : collectives) {
      parts.push_back(part_of(row));
      parts.back().index = counts[row.rank]++;
    }
    calls_ = CollectiveCalls(std::move(parts));
    calls_.doubt_waits(context.clocks ? *context.clocks : HostClocks());
  }
  WaitEnd end_of(const Collective& row) const { return calls_.wait_of(part_of(row), rank_count_); }

 private:
  CollectivePart part_of(const Collective& row) const {
    CollectivePart part{row.process_group, 0, row.sequence, row.function,
                        row.rank,          0, row.start_ns, row.end_ns};
    const auto group = groups_.find({row.process_group, row.rank});
    if (group == groups_.end()) return part;
    part.first_member = group->second->ranks.front();
    part.members = static_cast<int>(group->second->ranks.size());
    return part;
  }

  std::size_t rank_count_;
  std::map<std::pair<int, int>, const ProcessGroupFigures*> groups_;  // by group and rank
  CollectiveCalls calls_;
};

using Units = std::map<int, std::shared_ptr<const UnitFigures>>;  // by index

Units by_index(const std::vector<UnitFigures>& units) {
  Units result;
  for (const auto& unit : units) {
    result.emplace(unit.index, std::make_shared<const UnitFigures>(unit));
  }
  return result;
}

// Lays out one rank's step. Absolute times inside, relative ones in the result.
class RankLayout {
 public:
  RankLayout(const StepRows& rows, Interval step, std::int64_t origin_ns,
             const StringTable& strings, RankTimeline& result)
      : rows_(rows),
        step_(step),
        origin_ns_(origin_ns),
        strings_(strings),
        result_(result),
        optimizer_(phase_intervals(step, rows.phases, Phase::kOptimizer)) {}

  void add_phases() {
    for (const auto& span : rows_.spans) {
      const auto name = span.depth > 0 ? strings_.get(span.rank, span.name) : std::string_view();
      const auto label = name.empty() ? to_string(span.phase) : name;
      push(result_.phases, clipped(span.start_ns, span.end_ns), phase_class(span.phase),
           std::string(label), span.depth);
    }
  }

  // A bar per operator or kernel; those too short to be seen become one bar with their neighbours,
  // and so do those that run at the same time.
  void add_compute() {
    const auto shortest = step_.length() / kShortestParts;
    for (const auto& piece : rows_.compute) {
      sweep_classes({{piece.time}, {}, {}, optimizer_},
                    clipped(piece.time.start_ns, piece.time.end_ns),
                    [&](Interval part, TimeClass time_class) {
                      add_compute_part({part, time_class}, piece.name, shortest);
                    });
    }
    finish_compute_labels();
  }

  void add_collective(const Collective& event, const WaitEnd& wait_end, const Units& units) {
    CollectiveBar bar;
    const auto unit = units.find(event.tag_index);
    if (event.tag_kind == TagKind::kUnit && unit != units.end()) bar.unit = unit->second;
    bar.event = event;
    bar.label = collective_label(event, strings_.get(event.rank, event.tag_name));
    if (wait_end.time_ns) bar.waits_until_ns = *wait_end.time_ns - origin_ns_;
    bar.wait_doubt = wait_end.doubt;
    bar.start_ns = event.start_ns - origin_ns_;
    bar.end_ns = event.end_ns - origin_ns_;
    const auto inside = clipped(event.start_ns, event.end_ns);
    bar.overlapped_ns = length_within(rows_.compute_union, inside);
    bar.exposed_ns = inside.length() - bar.overlapped_ns;
    const int index = static_cast<int>(result_.collectives.size());
    result_.collectives.push_back(std::move(bar));
    add_communication(inside, index);
  }

  void add_ready(const BucketReady& row, const std::vector<BucketFigures>& buckets) {
    ReadyMark mark{row.time_ns - origin_ns_,
                   TagKind::kBucket,
                   row.bucket,
                   tag_text(TagKind::kBucket, row.bucket, {}),
                   0,
                   {}};
    for (const auto& bucket : buckets) {
      if (bucket.index != row.bucket) continue;
      mark.bytes = bucket.bytes;
      mark.note = bucket.oversize_reason;
    }
    result_.ready.push_back(std::move(mark));
  }

  void add_ready(const UnitReady& row, const Units& units) {
    ReadyMark mark{row.time_ns - origin_ns_,
                   TagKind::kUnit,
                   row.unit,
                   tag_text(TagKind::kUnit, row.unit, {}),
                   0,
                   {}};
    const auto unit = units.find(row.unit);
    if (unit != units.end()) {
      mark.unit = unit->second;
      mark.bytes = mark.unit->reduced_bytes;
      mark.name = mark.unit->name;
    }
    result_.ready.push_back(std::move(mark));
  }

  void add_ribbon() {
    const auto exact = exact_partition(
        {rows_.compute_union, rows_.communication, rows_.copies, optimizer_}, step_);
    const auto exposed = subtract(rows_.communication, rows_.compute_union);
    for (const auto& piece : without_slivers(exact, step_.length() / kSliverParts)) {
      std::string label;
      if (piece.bar_class == TimeClass::kExposed) {
        label = "exposed " + duration_text(length_within(exposed, piece.time));
      }
      push(result_.ribbon, piece.time, piece.bar_class, std::move(label));
    }
  }

 private:
  Interval clipped(std::int64_t start_ns, std::int64_t end_ns) const {
    return {std::max(start_ns, step_.start_ns), std::min(end_ns, step_.end_ns)};
  }

  void push(std::vector<Bar>& bars, Interval time, TimeClass bar_class, std::string label,
            int depth = 0, int collective = -1) const {
    if (time.length() <= 0) return;
    bars.push_back({time.start_ns - origin_ns_, time.end_ns - origin_ns_, bar_class, depth,
                    std::move(label), collective});
  }

  void add_compute_part(const ClassPiece& part, StringId name, std::int64_t shortest_ns) {
    auto& bars = result_.compute;
    const bool is_short = part.time.length() <= shortest_ns;
    const bool same_class = !bars.empty() && bars.back().bar_class == part.bar_class;
    const auto gap = same_class ? part.time.start_ns - origin_ns_ - bars.back().end_ns : 0;
    if (same_class && (gap < 0 || (is_short && longest_.back().is_short && gap <= shortest_ns))) {
      bars.back().end_ns = std::max(bars.back().end_ns, part.time.end_ns - origin_ns_);
    } else {
      push(bars, part.time, part.bar_class, {});
      longest_.push_back({});
    }
    auto& longest = longest_.back();
    ++longest.count;
    if (part.time.length() > longest.length_ns) {
      longest = {part.time.length(), name, longest.count, is_short};
    }
  }

  void finish_compute_labels() {
    for (std::size_t i = 0; i < longest_.size(); ++i) {
      auto& label = result_.compute[i].label;
      label = std::string(strings_.get(result_.rank, longest_[i].name));
      if (longest_[i].count > 1) label += " + " + std::to_string(longest_[i].count - 1);
    }
  }

  void add_communication(Interval inside, int index) {
    const auto pieces = exact_partition({rows_.compute_union, {inside}, {}, {}}, inside);
    const auto first_bar = result_.communication.size();
    for (const auto& piece : without_slivers(pieces, step_.length() / kSliverParts)) {
      push(result_.communication, piece.time, piece.bar_class, {}, 0, index);
    }
    label_longest(first_bar, result_.collectives[static_cast<std::size_t>(index)]);
  }

  // Only one part of a collective carries its name.
  void label_longest(std::size_t first_bar, const CollectiveBar& collective) {
    const auto first = result_.communication.begin() + static_cast<std::ptrdiff_t>(first_bar);
    const auto longest = std::max_element(
        first, result_.communication.end(),
        [](const Bar& a, const Bar& b) { return a.end_ns - a.start_ns < b.end_ns - b.start_ns; });
    if (longest == result_.communication.end()) return;
    longest->label = collective.label;
    if (has_bytes(collective.event)) longest->label += " · " + bytes_text(collective.event.bytes);
  }

  struct Longest {
    std::int64_t length_ns = 0;
    StringId name = 0;
    std::int64_t count = 0;  // of all events in the bar
    bool is_short = false;   // so are all of them
  };

  const StepRows& rows_;
  Interval step_;
  std::int64_t origin_ns_;
  const StringTable& strings_;
  RankTimeline& result_;
  Intervals optimizer_;
  std::vector<Longest> longest_;  // of each bar of result_.compute
};

}  // namespace

StepContext step_context(const RunFigures& figures) {
  StepContext context{figures.buckets, figures.units, figures.process_groups, {}, figures.clocks};
  for (const auto& rank : figures.ranks) context.ranks.push_back(rank.info);
  return context;
}

StepTimeline build_step_timeline(const StepFigures& figures, StepRowCollector rows,
                                 const StepContext& context, const StringTable& strings) {
  StepTimeline timeline;
  timeline.step = figures.index;
  timeline.origin_ns = figures.start_ns;
  timeline.end_ns = figures.end_ns - figures.start_ns;
  const StepWaits waits(rows.collectives(), context);
  const auto times = rows.steps();
  auto by_rank = std::move(rows).finish();
  const Units units = by_index(context.units);
  for (std::size_t i = 0; i < by_rank.size(); ++i) {
    if (times[i].length() <= 0) continue;  // has not reported the step
    auto& rank = timeline.ranks.emplace_back();
    rank.rank = static_cast<int>(i);
    for (const auto& info : context.ranks) {
      if (info.rank == rank.rank) rank.device = info.device;
    }
    rank.start_ns = times[i].start_ns - timeline.origin_ns;
    rank.end_ns = times[i].end_ns - timeline.origin_ns;
    rank.breakdown = figures.ranks[i];
    RankLayout layout(by_rank[i], times[i], timeline.origin_ns, strings, rank);
    layout.add_phases();
    layout.add_compute();
    for (const auto& collective : by_rank[i].collectives) {
      layout.add_collective(collective, waits.end_of(collective), units);
    }
    for (const auto& ready : by_rank[i].ready) {
      if (ready.step == figures.index) layout.add_ready(ready, context.buckets);
    }
    for (const auto& ready : by_rank[i].unit_ready) {
      if (ready.step == figures.index) layout.add_ready(ready, units);
    }
    rank.lanes = communication_lanes(rank, context.process_groups);
    if (rank.breakdown.has_detail) layout.add_ribbon();
    by_rank[i] = {};  // bars and rows of a thousand ranks need not be there at once
  }
  return timeline;
}

}  // namespace shardlens::trace
