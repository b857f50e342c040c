// The events with a searched name that come first from a time on, or last before it. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "trace/explore/tally/chunk_names.h"
#include "trace/store/chunk/event_store.h"
#include "trace/timeline/values/name_hits.h"

namespace shardlens::trace::explore {

class NearestHits {
 public:
  // The first `most` events that begin from `first_ns` to `last_ns`, both included; the last ones
  // if `is_backward`. Of several that begin at once those of the lowest rank, table and place.
  struct Wanted {
    std::int64_t first_ns = INT64_MIN, last_ns = INT64_MAX;
    bool is_backward = false;
    std::size_t most = 1;
  };
  explicit NearestHits(const Wanted& wanted) : wanted_(wanted) {}

  void offer(const timeline::EventPlace& place);
  // Events of the chunks whose name is among `names`, the nearest chunks first, until no further
  // one can hold a nearer event. False for `go_on` gives up.
  void look_into(std::vector<store::ChunkEntry> chunks, const std::vector<bool>& names,
                 store::EventStore& store, ChunkNames& chunk_names,
                 const std::function<bool()>& go_on);
  // The nearest first; their rows are the caller's to find.
  std::vector<timeline::EventPlace> take();

 private:
  bool is_beyond(std::int64_t start_ns, std::int64_t other_ns) const {
    return wanted_.is_backward ? start_ns < other_ns : start_ns > other_ns;
  }
  bool has_room_at(std::int64_t start_ns) const {
    return hits_.size() < wanted_.most || !is_beyond(start_ns, hits_.front().start_ns);
  }
  bool can_take(std::int64_t start_ns) const {
    return start_ns >= wanted_.first_ns && start_ns <= wanted_.last_ns && has_room_at(start_ns);
  }
  bool can_hold(const store::ChunkEntry& chunk) const;
  // Where events of the chunk begin to matter.
  std::int64_t nearest_ns(const store::ChunkEntry& chunk) const {
    return wanted_.is_backward ? chunk.header.last_ns : chunk.header.first_ns;
  }
  bool is_nearer(const timeline::EventPlace& a, const timeline::EventPlace& b) const;
  void look_at(const store::ChunkEntry& chunk, const store::EventColumns& columns,
               const std::vector<bool>& wanted_ids);

  const Wanted wanted_;
  std::vector<timeline::EventPlace> hits_;  // a heap, the farthest on top
};

}  // namespace shardlens::trace::explore
