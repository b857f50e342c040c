// Goes once over all bulk events of a run, in the background: how many end before they begin or
// overlap where they must not, how deep they nest, whether operators count as compute, how many
// kernels do. Whoever else needs every event is called for each chunk, so that chunks are decoded
// once. One thread calls, several work.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "trace/explore/run/lane_events.h"
#include "trace/store/chunk/event_store.h"

namespace shardlens::trace::explore {

class LaneScan {
 public:
  // Looks at some more of these chunks (by rank, lane, kind and time), of each rank in the order in
  // which they were recorded; true while there are more. `see` is called for each that is not of
  // allocations, by several workers at once.
  using See = std::function<void(int worker, const store::ChunkEntry& chunk,
                                 const store::EventColumns& columns)>;
  bool scan_some(store::EventStore& store, std::span<const store::ChunkEntry> chunks,
                 const See& see);
  // About how far a rank was looked at: where the last of those chunks begins.
  std::int64_t reached_ns(int rank) const;

  double fraction() const;
  bool is_done() const { return is_done_; }

  // What is kept of a scan that has ended, and begun with instead of another one.
  struct Seen {
    int rank = 0, lane = 0;
    model::EventKind kind = model::EventKind::kKernel;
    std::int64_t reversed = 0, overlapping = 0;
    std::int64_t computing = 0;  // kernels
    int levels = 1;
    bool computes = false;
  };
  std::vector<Seen> seen() const;
  void restore(std::span<const Seen> lanes);

  std::int64_t reversed_events() const;
  // Those of which one would be over before the next begins. Kernels of a stream need not: one that
  // is launched as a programmatic dependent begins before its predecessor has ended (CUDA
  // Programming Guide, "Programmatic Dependent Launch"), as cuBLAS's reductions do from Hopper on.
  std::int64_t overlapping_events() const;
  std::string problem() const;  // how many chunks could not be read, and why; "" for none
  int operator_levels(int rank, int lane) const;  // 1: none were seen
  bool operators_compute(int rank) const;
  // Kernels of a lane that are no collective's, by their names.
  std::int64_t computing_kernels(int rank, int lane) const;

 private:
  using LaneKey = std::tuple<int, int, model::EventKind>;  // rank, lane, kind
  struct LaneState {
    Seen seen;                             // but for rank, lane and kind
    std::int64_t unreadable = 0;           // chunks
    std::string problem;                   // of the first of them
    std::vector<std::int64_t> level_ends;  // by depth: the latest end so far
    std::optional<KernelActivities> names;
  };
  struct RankState {
    std::vector<std::uint32_t> order;  // places of its chunks in the order of recording
    std::size_t seen = 0;              // of these
    std::int64_t reached_ns = INT64_MIN;
  };
  static void look_at(const store::EventColumns& columns, LaneState& state);
  static void count_computing(const store::EventStore& store, int rank,
                              const store::EventColumns& columns, LaneState& state);
  // In the order of recording: an operator that lasts is recorded after those that it calls, and
  // what is recorded late must not be taken for something seen.
  std::vector<const store::ChunkEntry*> next_of_rank(std::span<const store::ChunkEntry> rank,
                                                     std::size_t most);
  std::vector<const store::ChunkEntry*> next_chunks(std::span<const store::ChunkEntry> chunks);

  std::map<LaneKey, LaneState> lanes_;
  std::map<int, RankState> ranks_;
  std::int64_t scanned_ = 0, total_ = 0;  // chunks
  bool is_done_ = false;
};

}  // namespace shardlens::trace::explore
