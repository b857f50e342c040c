// A look at every bulk event of a run, in the background: which contradict themselves, how deep
// they nest, whether operators count as compute. One thread calls, several work.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "trace/store/event_store.h"

namespace shardlens::trace {

class LaneScan {
 public:
  // Looks at some more of these chunks (by rank, lane, kind and time); true while there are more.
  bool scan_some(EventStore& store, std::span<const ChunkEntry> chunks);

  double fraction() const;
  bool is_done() const { return scanned_ >= total_; }

  std::int64_t reversed_events() const;
  std::int64_t overlapping_events() const;
  std::string problem() const;  // how many chunks could not be read, and why; "" for none
  int operator_levels(int rank, int lane) const;  // 1: none were seen
  bool operators_compute(int rank) const;

 private:
  using LaneKey = std::tuple<int, int, EventKind>;  // rank, lane, kind
  struct LaneState {
    std::size_t seen = 0;                  // chunks
    std::int64_t last_row_id = INT64_MIN;  // of them
    std::int64_t reversed = 0, overlapping = 0;
    std::int64_t unreadable = 0;  // chunks
    std::string problem;          // of the first of them
    int levels = 1;
    bool computes = false;
    std::vector<std::int64_t> level_ends;  // by depth: the latest end so far
  };
  static void look_at(const EventColumns& columns, LaneState& state);
  // In the order of recording: an operator that lasts is recorded after those that it calls, and
  // what is recorded late must not be taken for something seen.
  static std::vector<const ChunkEntry*> next_of_lane(std::span<const ChunkEntry> lane,
                                                     const LaneState& state);

  std::map<LaneKey, LaneState> lanes_;
  std::int64_t scanned_ = 0, total_ = 0;  // chunks
};

}  // namespace shardlens::trace
