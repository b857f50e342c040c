#include "trace/timeline/words/row_catalogue.h"

#include <algorithm>
#include <climits>
#include <tuple>
#include <utility>

#include "trace/model/gpu_counters.h"
#include "trace/timeline/words/row_labels.h"

namespace shardlens::trace::timeline {

namespace {

std::int64_t events_in(const LaneContent& lane, model::EventKind kind) {
  return lane.events[static_cast<std::size_t>(kind)];
}

// Launches belong to the operators of their thread.
int place_of(RowKind kind) {
  if (kind == RowKind::kGpu) return static_cast<int>(RowKind::kCounter);
  return static_cast<int>(kind == RowKind::kLaunches ? RowKind::kOperators : kind);
}

// Counters of a GPU in their own order, those that lead before the others; then other sources'.
std::pair<bool, int> counter_place(const TimelineRow& row) {
  if (row.kind == RowKind::kGpu && row.label == model::kThrottled) return {false, INT_MAX};
  const int place = model::gpu_counter_place(row.label);
  return {row.kind == RowKind::kCounter, place < 0 ? INT_MAX : place};
}

RowKind row_kind_of(EventTableKind table) {
  switch (table) {
    case EventTableKind::kOperator:
      return RowKind::kOperators;
    case EventTableKind::kKernel:
      return RowKind::kKernels;
    case EventTableKind::kLaunch:
      return RowKind::kLaunches;
    case EventTableKind::kCopy:
      return RowKind::kCopies;
    case EventTableKind::kSpan:
      return RowKind::kPhases;
    case EventTableKind::kCollective:
      return RowKind::kCommunication;
    case EventTableKind::kAllocation:
    case EventTableKind::kNone:
      return RowKind::kRibbon;
  }
  return RowKind::kRibbon;
}

int find_row(const TimelineRows& rows, RowKind kind, int rank, int lane) {
  const auto of = std::ranges::find(rows.ranks, rank, &TimelineRank::rank);
  if (of == rows.ranks.end()) return -1;
  for (const int id : of->rows) {
    const TimelineRow& row = rows.rows[static_cast<std::size_t>(id)];
    if (row.kind == kind && row.lane == lane) return id;
  }
  return -1;
}

}  // namespace

RowCatalogue::RowCatalogue() {
  TimelineRow& mean = row({-1, RowKind::kRibbon, -1, ""});
  mean.label = "All ranks";
}

TimelineRow& RowCatalogue::row(const Key& key) {
  const auto [found, is_new] = ids_.try_emplace(key, static_cast<int>(rows_.size()));
  if (is_new) {
    TimelineRow& row = rows_.emplace_back();
    row.id = found->second;
    row.rank = key.rank;
    row.kind = key.kind;
    row.lane = key.lane;
  }
  return rows_[static_cast<std::size_t>(found->second)];
}

void RowCatalogue::add_lane_row(const RankContent& rank, const LaneContent& lane, RowKind kind,
                                int levels, std::int64_t count) {
  const Key key{rank.rank, kind, lane.lane, ""};
  if (count == 0) {
    if (const auto known = ids_.find(key); known != ids_.end()) row(key).count = 0;
    return;
  }
  TimelineRow& added = row(key);
  added.levels = std::max(added.levels, levels);
  added.count = count;
  added.label = lane_label(rank, lane, kind);
}

void RowCatalogue::add_lane(const RankContent& rank, const LaneContent& lane) {
  add_lane_row(rank, lane, RowKind::kPhases, lane.span_levels, lane.spans);
  add_lane_row(rank, lane, RowKind::kOperators, lane.operator_levels,
               events_in(lane, model::EventKind::kOperator));
  add_lane_row(rank, lane, RowKind::kLaunches, 1, events_in(lane, model::EventKind::kLaunch));
  add_lane_row(rank, lane, RowKind::kCommunication, 1, lane.collectives);
  add_lane_row(rank, lane, RowKind::kCopies, 1, events_in(lane, model::EventKind::kCopy));
  // The kernels of collectives are shown once, as what they are for, unless there are others.
  const std::int64_t kernels = events_in(lane, model::EventKind::kKernel);
  // While a run is live there may be more of either, until those that belong to them come. More
  // collectives are no sign of other kernels, nor of none: one kernel may carry several.
  const bool are_collectives = lane.kind == model::LaneKind::kCommunication &&
                               lane.computing_kernels == 0 &&
                               (lane.collectives < 0 || lane.collectives >= kernels);
  add_lane_row(rank, lane, RowKind::kKernels, 1, are_collectives ? 0 : kernels);
}

void RowCatalogue::add_samples(const RankContent& rank) {
  const auto add = [&](RowKind kind, const std::string& name, const std::string& label,
                       const std::string& unit, std::int64_t count) {
    if (count == 0) return;
    TimelineRow& added = row({rank.rank, kind, -1, name});
    added.label = label;
    added.unit = unit;
    added.count = count;
  };
  add(RowKind::kReady, "buckets", "Buckets ready", "", rank.bucket_ready);
  add(RowKind::kReady, "units", "Units ready", "", rank.unit_ready);
  add(RowKind::kMemory, "", "Memory allocated", "bytes", rank.memory_samples);
  for (const CounterContent& counter : rank.counters) {
    const bool leads = model::is_leading_gpu_counter(counter.name);
    add(leads ? RowKind::kGpu : RowKind::kCounter, counter.name, counter.name, counter.unit,
        counter.samples);
  }
}

void RowCatalogue::put_in_order(TimelineRank& rank) const {
  const auto main_thread = main_threads_.find(rank.rank);
  const int main_lane = main_thread == main_threads_.end() ? -1 : main_thread->second;
  rank.rows.clear();
  for (const TimelineRow& row : rows_) {
    // What turned out to be collectives, and keeps its number.
    const bool is_left_out = row.kind == RowKind::kKernels && row.count == 0;
    if (row.rank == rank.rank && !is_left_out) rank.rows.push_back(row.id);
  }
  std::ranges::stable_sort(rank.rows, {}, [&](int id) {
    const TimelineRow& row = rows_[static_cast<std::size_t>(id)];
    return std::tuple(place_of(row.kind), counter_place(row), row.lane != main_lane, row.lane,
                      row.kind);
  });
}

void RowCatalogue::update(std::span<const RankContent> ranks) {
  for (const RankContent& content : ranks) {
    row({content.rank, RowKind::kRibbon, -1, ""}).label = "Rank " + std::to_string(content.rank);
    for (const LaneContent& lane : content.lanes) add_lane(content, lane);
    add_samples(content);
    auto rank = std::ranges::find(ranks_, content.rank, &TimelineRank::rank);
    if (rank == ranks_.end()) rank = ranks_.insert(ranks_.end(), TimelineRank{});
    rank->rank = content.rank;
    rank->device = content.device;
    rank->device_name = content.device_name;
    rank->end_ns = content.end_ns;
    main_threads_[content.rank] = main_thread_lane(content);
    put_in_order(*rank);
  }
  std::ranges::sort(ranks_, {}, &TimelineRank::rank);
}

int row_of(const TimelineRows& rows, EventTableKind table, int rank, int lane) {
  if (table == EventTableKind::kNone || table == EventTableKind::kAllocation) return -1;
  const int row = find_row(rows, row_kind_of(table), rank, lane);
  // A collective's kernel is shown as the collective.
  if (row >= 0 || table != EventTableKind::kKernel) return row;
  return find_row(rows, RowKind::kCommunication, rank, lane);
}

}  // namespace shardlens::trace::timeline
