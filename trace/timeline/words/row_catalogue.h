// Which rows a timeline has, from what its ranks hold, and what they are called, in words that
// users of PyTorch and of GPU profilers know. A row keeps its number while more becomes known. One
// thread at a time; the functions any thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model/events.h"
#include "trace/timeline/values/event_ref.h"
#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::trace::timeline {

// What one lane holds. Counts: −1 is some, not counted yet; 0 none.
struct LaneContent {
  int lane = 0;
  model::LaneKind kind = model::LaneKind::kPhases;
  std::string name;
  std::array<std::int64_t, model::kEventKindCount> events{};  // by EventKind
  std::int64_t spans = 0, collectives = 0;
  std::int64_t computing_kernels = 0;  // of those that were looked at: no collective's
  int operator_levels = 1, span_levels = 1;
  // Of its collectives, where they were read: "" if they differ.
  std::string collective_function, group_name;
};

struct CounterContent {
  std::string name, unit;
  std::int64_t samples = 0;
};

struct RankContent {
  int rank = 0;
  std::string device, device_name;
  std::int64_t end_ns = INT64_MAX;  // of what it recorded; INT64_MAX: not known
  std::vector<LaneContent> lanes;   // by number
  // From here: 0 until the rows were read.
  std::int64_t bucket_ready = 0, unit_ready = 0, memory_samples = 0;
  std::vector<CounterContent> counters;
};

class RowCatalogue {
 public:
  RowCatalogue();

  // Rows of all ranks, by rank. New ones are added behind, none goes away.
  void update(std::span<const RankContent> ranks);
  const std::vector<TimelineRow>& rows() const { return rows_; }
  const std::vector<TimelineRank>& ranks() const { return ranks_; }

 private:
  struct Key {
    int rank = 0;
    RowKind kind = RowKind::kRibbon;
    int lane = 0;
    std::string name;  // of a counter, or what is ready

    auto operator<=>(const Key&) const = default;
  };
  TimelineRow& row(const Key& key);
  void add_lane(const RankContent& rank, const LaneContent& lane);
  void add_lane_row(const RankContent& rank, const LaneContent& lane, RowKind kind, int levels,
                    std::int64_t count);
  void add_samples(const RankContent& rank);
  void put_in_order(TimelineRank& rank) const;

  std::vector<TimelineRow> rows_;
  std::vector<TimelineRank> ranks_;
  std::map<Key, int> ids_;
  std::map<int, int> main_threads_;  // by rank: the lane whose thread runs the steps
};

// The row that shows an event; −1: none does, as with allocations.
int row_of(const TimelineRows& rows, EventTableKind table, int rank, int lane);

std::string_view kind_name(RowKind kind);  // "Kernels"
// "All-reduce" of all_reduce.
std::string collective_title(model::CollectiveFunction function);

}  // namespace shardlens::trace::timeline
