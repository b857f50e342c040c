#include "trace/explore/run/run_contents.h"

#include <algorithm>
#include <map>

#include "trace/model/gpu_counter_names.h"

namespace shardlens::trace::explore {

namespace {

// Deeper ones are drawn with the deepest: a Python stack would push all else off the screen.
constexpr int kMostOperatorLevels = 32;

using LaneContents = std::map<int, timeline::LaneContent>;

timeline::LaneContent& lane_in(LaneContents& lanes, int lane) {
  timeline::LaneContent& content = lanes[lane];
  content.lane = lane;
  return content;
}

void add_collectives(LaneContents& lanes, const RankRows& rows) {
  std::map<int, std::pair<int, int>> seen;  // by lane: function, group; −1: several
  for (auto& [number, lane] : lanes) lane.collectives = 0;
  for (const model::Collective& row : rows.collectives.rows) {
    ++lane_in(lanes, row.lane).collectives;
    const auto function = static_cast<int>(row.function);
    const auto [found, is_new] = seen.try_emplace(row.lane, function, row.process_group);
    if (is_new) continue;
    if (found->second.first != function) found->second.first = -1;
    if (found->second.second != row.process_group) found->second.second = -1;
  }
  for (const auto& [number, of] : seen) {
    timeline::LaneContent& lane = lane_in(lanes, number);
    lane.collective_function =
        of.first < 0 ? ""
                     : timeline::collective_title(static_cast<model::CollectiveFunction>(of.first));
    const model::ProcessGroup* const group = rows.group(of.second);
    lane.group_name = group == nullptr ? "" : std::string(rows.text(group->name));
  }
}

void add_spans(LaneContents& lanes, const RankRows& rows) {
  constexpr int kMostLevels = 64;
  for (auto& [number, lane] : lanes) lane.spans = 0;
  for (const model::Span& span : rows.spans.rows) {
    timeline::LaneContent& lane = lane_in(lanes, span.lane);
    ++lane.spans;
    lane.span_levels = std::max(lane.span_levels, std::clamp(span.depth + 1, 1, kMostLevels));
  }
}

}  // namespace

timeline::RankContent content_of(const RankSnapshot& rank,
                                 std::span<const store::ChunkEntry> chunks_of_rank,
                                 const LaneScan& scan) {
  const RankRows& rows = *rank.rows;
  timeline::RankContent content;
  content.rank = rank.rank;
  content.device = rows.info.device;
  content.device_name = rows.info.device_name;
  if (rank.extent.length() > 0) content.end_ns = rank.extent.end_ns;
  LaneContents lanes;
  for (const model::Lane& lane : rows.lanes) {
    timeline::LaneContent& named = lane_in(lanes, lane.id);
    named.kind = lane.kind;
    named.name = rows.text(lane.name);
  }
  for (const store::ChunkEntry& chunk : chunks_of_rank) {
    lane_in(lanes, chunk.lane).events[static_cast<std::size_t>(chunk.kind)] +=
        std::max<std::int64_t>(chunk.header.count, 0);
  }
  // −1: there are some, but they have not been counted yet.
  for (const int lane : rows.span_lanes) lane_in(lanes, lane).spans = -1;
  for (const int lane : rows.collective_lanes) lane_in(lanes, lane).collectives = -1;
  if (rank.has_all_rows) {
    add_collectives(lanes, rows);
    add_spans(lanes, rows);
    content.bucket_ready = static_cast<std::int64_t>(rows.bucket_ready.size());
    content.unit_ready = static_cast<std::int64_t>(rows.unit_ready.size());
    content.memory_samples = static_cast<std::int64_t>(rows.memory.size());
    for (const CounterSeries& series : rows.counters) {
      if (series.samples.empty()) continue;
      if (series.name == model::kThrottled && !(series.highest > 0)) continue;  // as it should be
      content.counters.push_back(
          {series.name, series.unit, static_cast<std::int64_t>(series.samples.size())});
    }
  }
  for (auto& [number, lane] : lanes) {
    lane.operator_levels =
        std::max(lane.operator_levels,
                 std::min(scan.operator_levels(rank.rank, number), kMostOperatorLevels));
    lane.computing_kernels = scan.computing_kernels(rank.rank, number);
    content.lanes.push_back(std::move(lane));
  }
  return content;
}

base::Interval extent_of(std::span<const store::ChunkEntry> chunks_of_rank, const RankRows& rows) {
  base::Interval extent =
      rows.extent.length() > 0 ? rows.extent : base::Interval{INT64_MAX, INT64_MIN};
  for (const store::ChunkEntry& chunk : chunks_of_rank) {
    // What lies beyond any calendar would make the rest invisible.
    for (const std::int64_t time_ns : {chunk.header.first_ns, chunk.header.last_ns}) {
      if (chunk.kind == model::EventKind::kAllocation || !base::is_plausible_time(time_ns, time_ns))
        continue;
      extent.start_ns = std::min(extent.start_ns, time_ns);
      extent.end_ns = std::max(extent.end_ns, time_ns);
    }
  }
  return extent.end_ns > extent.start_ns ? extent : base::Interval{};
}

std::int64_t device_known_until(analysis::DeviceProgress& device, analysis::DeviceRecords records,
                                std::span<const store::ChunkEntry> chunks_of_rank,
                                const RankRows& rows) {
  using Source = analysis::DeviceProgress::Source;
  using analysis::DeviceRecords;
  if (records == DeviceRecords::kNone || records == DeviceRecords::kHaveEnded) return INT64_MAX;
  for (const store::ChunkEntry& chunk : chunks_of_rank) {
    if (chunk.kind != model::EventKind::kKernel && chunk.kind != model::EventKind::kCopy) continue;
    const std::int64_t end_ns = chunk.header.last_ns;
    if (base::is_plausible_time(end_ns, end_ns)) device.add(Source::kEvents, chunk.lane, end_ns);
  }
  for (const auto& [lane, end_ns] : rows.collective_ends) {
    device.add(Source::kCollectives, lane, end_ns);
  }
  for (const model::Step& step : rows.steps) {
    if (base::is_plausible_time(step.start_ns, step.end_ns)) device.add(step);
  }
  device.settle(records);
  return device.steps_known_until_ns();
}

}  // namespace shardlens::trace::explore
