#include "trace/explore/lane_scan.h"

#include <algorithm>
#include <utility>

#include "trace/store/side_by_side.h"
#include "trace/timeline/drawn_event.h"
#include "trace/timeline/quantity.h"

namespace shardlens::trace {

namespace {
// Of each lane with one call: some milliseconds altogether.
constexpr std::size_t kChunksPerCall = 8;
}  // namespace

void LaneScan::look_at(const EventColumns& columns, LaneState& state) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::uint32_t flags = columns.flags(i);
    const std::size_t depth = (flags >> kEventDepthShift) & 0xff;
    if (depth >= state.level_ends.size()) state.level_ends.resize(depth + 1, INT64_MIN);
    if (columns.duration_ns(i) < 0) ++state.reversed;
    if ((flags & kEventCompute) != 0) state.computes = true;
    const Interval time = drawn_event_time(columns.start_ns(i), columns.duration_ns(i));
    if (time.start_ns < state.level_ends[depth]) ++state.overlapping;
    state.level_ends[depth] = std::max(state.level_ends[depth], time.end_ns);
  }
  state.levels = std::max(state.levels, static_cast<int>(state.level_ends.size()));
}

std::vector<const ChunkEntry*> LaneScan::next_of_lane(std::span<const ChunkEntry> lane,
                                                      const LaneState& state) {
  std::vector<const ChunkEntry*> rest;
  for (const ChunkEntry& chunk : lane) {
    if (chunk.row_id > state.last_row_id) rest.push_back(&chunk);
  }
  const std::size_t count = std::min(rest.size(), kChunksPerCall);
  const auto end = rest.begin() + static_cast<std::ptrdiff_t>(count);
  std::ranges::partial_sort(rest, end, {}, &ChunkEntry::row_id);
  rest.erase(end, rest.end());
  return rest;
}

bool LaneScan::scan_some(EventStore& store, std::span<const ChunkEntry> chunks) {
  struct Task {
    LaneState* state;
    EventKind kind;
    std::vector<const ChunkEntry*> chunks;
  };
  std::vector<Task> tasks;
  for (std::size_t first = 0; first < chunks.size();) {
    const ChunkEntry& chunk = chunks[first];
    std::size_t end = first;
    while (end < chunks.size() && chunks[end].rank == chunk.rank &&
           chunks[end].lane == chunk.lane && chunks[end].kind == chunk.kind) {
      ++end;
    }
    LaneState& state = lanes_[{chunk.rank, chunk.lane, chunk.kind}];
    auto next = next_of_lane(chunks.subspan(first, end - first), state);
    if (!next.empty()) tasks.push_back({&state, chunk.kind, std::move(next)});
    first = end;
  }
  for_each_side_by_side(store.threads(), tasks.size(), [&](int, std::size_t i) {
    Task& task = tasks[i];
    task.state->seen += task.chunks.size();
    task.state->last_row_id = task.chunks.back()->row_id;
    // Allocations live beside each other.
    if (task.kind == EventKind::kAllocation) return;
    for (const ChunkEntry* chunk : task.chunks) {
      const auto columns = store.load(*chunk);
      if (columns) {
        look_at(**columns, *task.state);
      } else if (++task.state->unreadable == 1) {
        task.state->problem = columns.error().message;
      }
    }
  });
  total_ = static_cast<std::int64_t>(chunks.size());
  scanned_ = 0;
  for (const auto& [key, state] : lanes_) scanned_ += static_cast<std::int64_t>(state.seen);
  return !tasks.empty() && !is_done();
}

double LaneScan::fraction() const {
  return total_ == 0 ? 0 : static_cast<double>(scanned_) / static_cast<double>(total_);
}

std::int64_t LaneScan::reversed_events() const {
  std::int64_t sum = 0;
  for (const auto& [key, state] : lanes_) sum += state.reversed;
  return sum;
}

std::int64_t LaneScan::overlapping_events() const {
  std::int64_t sum = 0;
  for (const auto& [key, state] : lanes_) sum += state.overlapping;
  return sum;
}

std::string LaneScan::problem() const {
  std::int64_t unreadable = 0;
  std::string first;
  for (const auto& [key, state] : lanes_) {
    unreadable += state.unreadable;
    if (first.empty()) first = state.problem;
  }
  if (unreadable < 2) return first;
  return format_integer(unreadable) + " parts cannot be read, among them: " + first;
}

int LaneScan::operator_levels(int rank, int lane) const {
  const auto found = lanes_.find({rank, lane, EventKind::kOperator});
  return found == lanes_.end() ? 1 : found->second.levels;
}

bool LaneScan::operators_compute(int rank) const {
  return std::ranges::any_of(lanes_, [&](const auto& lane) {
    return std::get<0>(lane.first) == rank && std::get<2>(lane.first) == EventKind::kOperator &&
           lane.second.computes;
  });
}

}  // namespace shardlens::trace
