#include "trace/timeline/words/row_catalogue.h"

#include <algorithm>
#include <cctype>
#include <climits>
#include <optional>
#include <tuple>
#include <utility>

#include "trace/base/text.h"
#include "trace/model/gpu_counter_names.h"

namespace shardlens::trace::timeline {

namespace {

// What of the lane a row of the kind shows.
std::int64_t count_in(const LaneContent& lane, RowKind kind) {
  if (kind == RowKind::kPhases) return lane.spans;
  if (kind == RowKind::kCommunication) return lane.collectives;
  const auto shown = std::ranges::find(kShownKinds, kind, &ShownKind::row);
  return shown == kShownKinds.end() ? 0 : lane.events[static_cast<std::size_t>(shown->kind)];
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

// None: no row shows such events.
std::optional<RowKind> row_kind_of(EventTableKind table) {
  if (table == EventTableKind::kSpan) return RowKind::kPhases;
  if (table == EventTableKind::kCollective) return RowKind::kCommunication;
  const auto shown = std::ranges::find(kShownKinds, table, &ShownKind::table);
  return shown == kShownKinds.end() ? std::nullopt : std::optional(shown->row);
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

// "stream 7" of "GPU 0 stream 7" and of "stream 7, copies"; "" where there is none.
std::string stream_of(std::string_view name) {
  const auto at = name.find("stream ");
  if (at == std::string_view::npos || (at > 0 && name[at - 1] != ' ')) return "";
  auto end = at + 7;
  while (end < name.size() && std::isalnum(static_cast<unsigned char>(name[end])) != 0) ++end;
  return std::string(name.substr(at, end - at));
}

// The lane's name without what the title says.
std::string_view own_name(std::string_view name) {
  for (const std::string_view prefix : {"operators of the ", "operators of ", "launches of the ",
                                        "launches of ", "annotations of ", "NVTX of ", "NVTX "}) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

// Of a row that shows a lane: "Operators", "Compute stream 7", "All-gather · shard". The lane's
// name is part of it where the rank has several of the kind.
std::string lane_label(const RankContent& rank, const LaneContent& lane, RowKind kind) {
  const auto is_same = [&](const LaneContent& other) {
    return &other != &lane && other.lane != lane.lane && count_in(other, kind) != 0;
  };
  std::string label(kind == RowKind::kKernels ? "Compute" : kind_name(kind));
  if (kind == RowKind::kCommunication) {
    if (!lane.collective_function.empty()) label = lane.collective_function;
    if (!lane.group_name.empty()) return label + " · " + lane.group_name;
  }
  if (kind == RowKind::kKernels && lane.kind == model::LaneKind::kCommunication)
    label = lane.computing_kernels > 0 ? "Kernels" : "NCCL kernels";
  if (kind == RowKind::kOperators && lane.name.starts_with("NVTX")) label = "NVTX";
  const std::string stream = stream_of(lane.name);
  const bool is_only = std::ranges::none_of(rank.lanes, is_same);
  const bool is_of_stream = kind == RowKind::kKernels || kind == RowKind::kCommunication ||
                            (kind == RowKind::kCopies && !is_only);
  const bool stream_is_unique =
      !stream.empty() && std::ranges::none_of(rank.lanes, [&](const LaneContent& other) {
        return is_same(other) && stream_of(other.name) == stream;
      });
  if (is_of_stream && stream_is_unique) return label + " " + stream;
  if (is_only || lane.name.empty()) return label;
  return label + " · " + std::string(own_name(lane.name));
}

// The lane with the operators of the thread that has most phases, where their names tell; −1: they
// do not.
int main_thread_lane(const RankContent& rank) {
  const auto phases = std::ranges::max_element(rank.lanes, {}, &LaneContent::spans);
  if (phases == rank.lanes.end() || phases->spans <= 0) return -1;
  const auto found = std::ranges::find_if(rank.lanes, [&](const LaneContent& lane) {
    return count_in(lane, RowKind::kOperators) != 0 &&
           own_name(lane.name) == own_name(phases->name);
  });
  return found == rank.lanes.end() ? -1 : found->lane;
}

}  // namespace

std::string_view kind_name(RowKind kind) {
  static constexpr std::array<std::string_view, 11> kNames{
      "Ribbon", "Phases",          "Operators", "Launches", "Kernels", "Communication",
      "Copies", "Gradients ready", "Memory",    "Counters", "GPU"};
  return base::enum_name<RowKind::kGpu>(kNames, kind);
}

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
  for (const auto& [kind, levels] : {std::pair(RowKind::kPhases, lane.span_levels),
                                     {RowKind::kOperators, lane.operator_levels},
                                     {RowKind::kLaunches, 1},
                                     {RowKind::kCommunication, 1},
                                     {RowKind::kCopies, 1}}) {
    add_lane_row(rank, lane, kind, levels, count_in(lane, kind));
  }
  // The kernels of collectives are shown once, as what they are for, unless there are others.
  const std::int64_t kernels = count_in(lane, RowKind::kKernels);
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
  const std::optional<RowKind> kind = row_kind_of(table);
  if (!kind) return -1;
  const int row = find_row(rows, *kind, rank, lane);
  // A collective's kernel is shown as the collective.
  if (row >= 0 || table != EventTableKind::kKernel) return row;
  return find_row(rows, RowKind::kCommunication, rank, lane);
}

std::string collective_title(model::CollectiveFunction function) {
  std::string text(model::to_string(function));
  std::ranges::replace(text, '_', '-');
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace shardlens::trace::timeline
