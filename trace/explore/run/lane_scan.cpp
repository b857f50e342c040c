#include "trace/explore/run/lane_scan.h"

#include <algorithm>
#include <climits>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>

#include "trace/base/side_by_side.h"
#include "trace/base/words/quantity.h"
#include "trace/timeline/values/drawn_event.h"

namespace shardlens::trace::explore {

namespace {

// Chunks per call, over all ranks: some milliseconds of work on several threads, and few enough
// that they are still in the cache for whoever needs them right after the scan.
constexpr std::size_t kChunksPerCall = 128;

std::vector<std::uint32_t> order_of_recording(std::span<const store::ChunkEntry> rank) {
  std::vector<std::uint32_t> order(rank.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::ranges::sort(order, {}, [&](std::uint32_t place) { return rank[place].row_id; });
  return order;
}

using Loaded = std::vector<std::shared_ptr<const store::EventColumns>>;

}  // namespace

void LaneScan::look_at(const store::EventColumns& columns, LaneState& state) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::uint32_t flags = columns.flags(i);
    const std::size_t depth = (flags >> model::kEventDepthShift) & 0xff;
    if (depth >= state.level_ends.size()) state.level_ends.resize(depth + 1, INT64_MIN);
    if (columns.duration_ns(i) < 0) ++state.seen.reversed;
    if ((flags & model::kEventCompute) != 0) state.seen.computes = true;
    const base::Interval time =
        timeline::drawn_event_time(columns.start_ns(i), columns.duration_ns(i));
    if (time.start_ns < state.level_ends[depth]) ++state.seen.overlapping;
    state.level_ends[depth] = std::max(state.level_ends[depth], time.end_ns);
  }
  state.seen.levels = std::max(state.seen.levels, static_cast<int>(state.level_ends.size()));
}

void LaneScan::count_computing(const store::EventStore& store, int rank,
                               const store::EventColumns& columns, LaneState& state) {
  if (!state.names) state.names.emplace(store, rank);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (state.names->of(columns.name(i)) == model::Activity::kCompute) ++state.seen.computing;
  }
}

std::vector<const store::ChunkEntry*> LaneScan::next_of_rank(
    std::span<const store::ChunkEntry> rank, std::size_t most) {
  RankState& state = ranks_[rank.front().rank];
  if (state.order.size() != rank.size()) state.order = order_of_recording(rank);
  // New chunks come behind those that are there.
  const auto left = std::span(state.order).subspan(state.seen);
  std::vector<const store::ChunkEntry*> next;
  for (const std::uint32_t place : left.first(std::min(left.size(), most))) {
    next.push_back(&rank[place]);
  }
  if (next.empty()) return next;
  state.seen += next.size();
  state.reached_ns = next.back()->header.first_ns;
  scanned_ += static_cast<std::int64_t>(next.size());
  return next;
}

std::vector<const store::ChunkEntry*> LaneScan::next_chunks(
    std::span<const store::ChunkEntry> chunks) {
  std::vector<std::span<const store::ChunkEntry>> ranks;
  for (std::size_t first = 0; first < chunks.size();) {
    const auto rank = std::ranges::equal_range(chunks.subspan(first), chunks[first].rank, {},
                                               &store::ChunkEntry::rank);
    ranks.emplace_back(rank.begin(), rank.end());
    first += rank.size();
  }
  std::vector<const store::ChunkEntry*> next;
  for (const auto& rank : ranks) {
    std::ranges::copy(next_of_rank(rank, std::max<std::size_t>(1, kChunksPerCall / ranks.size())),
                      std::back_inserter(next));
  }
  // Of a lane in the order of recording.
  std::ranges::stable_sort(next, {}, [](const store::ChunkEntry* chunk) {
    return LaneKey{chunk->rank, chunk->lane, chunk->kind};
  });
  return next;
}

bool LaneScan::scan_some(store::EventStore& store, std::span<const store::ChunkEntry> chunks,
                         const See& see) {
  const auto next = next_chunks(chunks);
  Loaded loaded(next.size());
  std::vector<std::string> problems(next.size());
  base::for_each_side_by_side(store.threads(), next.size(), [&](int worker, std::size_t i) {
    // Allocations live beside each other.
    if (next[i]->kind == model::EventKind::kAllocation) return;
    auto columns = store.load(*next[i]);
    if (!columns) {
      problems[i] = columns.error().message;
      return;
    }
    loaded[i] = std::move(*columns);
    see(worker, *next[i], *loaded[i]);
  });
  struct Task {
    LaneState* state;
    std::size_t first, end;
  };
  std::vector<Task> tasks;
  for (std::size_t i = 0; i < next.size(); ++i) {
    LaneState* const state = &lanes_[{next[i]->rank, next[i]->lane, next[i]->kind}];
    if (tasks.empty() || tasks.back().state != state) tasks.push_back({state, i, i});
    tasks.back().end = i + 1;
  }
  base::for_each_side_by_side(store.threads(), tasks.size(), [&](int, std::size_t i) {
    const Task& task = tasks[i];
    for (std::size_t at = task.first; at < task.end; ++at) {
      if (loaded[at]) look_at(*loaded[at], *task.state);
      if (loaded[at] && next[at]->kind == model::EventKind::kKernel) {
        count_computing(store, next[at]->rank, *loaded[at], *task.state);
      }
      if (problems[at].empty()) continue;
      if (++task.state->unreadable == 1) task.state->problem = problems[at];
    }
  });
  total_ = static_cast<std::int64_t>(chunks.size());
  is_done_ = next.empty() || scanned_ >= total_;
  return !is_done_;
}

std::int64_t LaneScan::reached_ns(int rank) const {
  const auto found = ranks_.find(rank);
  return found == ranks_.end() ? INT64_MIN : found->second.reached_ns;
}

std::vector<LaneScan::Seen> LaneScan::seen() const {
  std::vector<Seen> all;
  for (const auto& [key, state] : lanes_) {
    Seen& lane = all.emplace_back(state.seen);
    std::tie(lane.rank, lane.lane, lane.kind) = key;
  }
  return all;
}

void LaneScan::restore(std::span<const Seen> lanes) {
  for (const Seen& lane : lanes) lanes_[{lane.rank, lane.lane, lane.kind}].seen = lane;
  is_done_ = true;
}

double LaneScan::fraction() const {
  if (is_done_) return 1;
  return total_ == 0 ? 0 : static_cast<double>(scanned_) / static_cast<double>(total_);
}

std::int64_t LaneScan::reversed_events() const {
  std::int64_t sum = 0;
  for (const auto& [key, state] : lanes_) sum += state.seen.reversed;
  return sum;
}

std::int64_t LaneScan::overlapping_events() const {
  std::int64_t sum = 0;
  for (const auto& [key, state] : lanes_) {
    const bool may_overlap = std::get<model::EventKind>(key) == model::EventKind::kKernel;
    if (!may_overlap) sum += state.seen.overlapping;
  }
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
  return base::format_integer(unreadable) + " parts cannot be read, among them: " + first;
}

int LaneScan::operator_levels(int rank, int lane) const {
  const auto found = lanes_.find({rank, lane, model::EventKind::kOperator});
  return found == lanes_.end() ? 1 : found->second.seen.levels;
}

std::int64_t LaneScan::computing_kernels(int rank, int lane) const {
  const auto found = lanes_.find({rank, lane, model::EventKind::kKernel});
  return found == lanes_.end() ? 0 : found->second.seen.computing;
}

bool LaneScan::operators_compute(int rank) const {
  // Only this rank's lanes are gone through, since a run may have a thousand ranks.
  const auto of_rank =
      std::ranges::subrange(lanes_.lower_bound({rank, INT_MIN, model::EventKind{}}),
                            lanes_.lower_bound({rank + 1, INT_MIN, model::EventKind{}}));
  return std::ranges::any_of(of_rank, [](const auto& lane) {
    return std::get<2>(lane.first) == model::EventKind::kOperator && lane.second.seen.computes;
  });
}

}  // namespace shardlens::trace::explore
