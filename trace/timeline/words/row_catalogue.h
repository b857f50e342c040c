// Which rows a timeline has, from what its ranks hold. A row keeps its number while more becomes
// known. One thread at a time.
#pragma once

#include <compare>
#include <map>
#include <span>
#include <string>

#include "trace/timeline/values/event_ref.h"
#include "trace/timeline/values/row_content.h"
#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::trace::timeline {

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

}  // namespace shardlens::trace::timeline
