// The next or the previous event with a searched name, seen from a time. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "trace/explore/find/name_search.h"
#include "trace/explore/tally/chunk_names.h"
#include "trace/store/chunk/event_store.h"
#include "trace/timeline/values/name_hits.h"

namespace shardlens::trace::explore {

class NeighbourSearch {
 public:
  // `direction` 1: events that begin after `from_ns`; −1: before it.
  NeighbourSearch(int direction, std::int64_t from_ns)
      : is_next_(direction > 0), from_ns_(from_ns) {}

  void offer(const timeline::EventPlace& place);
  // Events of the chunks whose name is among `names`, the nearest chunks first, until no further
  // one can hold a nearer event.
  void look_into(std::vector<store::ChunkEntry> chunks, const std::vector<bool>& names,
                 store::EventStore& store, ChunkNames& chunk_names,
                 const std::function<bool()>& wanted);
  const std::optional<timeline::EventPlace>& best() const { return best_; }

 private:
  bool can_hold(const store::ChunkEntry& chunk) const;
  bool is_on_side(std::int64_t start_ns) const {
    return is_next_ ? start_ns > from_ns_ : start_ns < from_ns_;
  }
  // Where the chunk begins to matter, seen from `from_ns`.
  std::int64_t nearest_ns(const store::ChunkEntry& chunk) const {
    return is_next_ ? chunk.header.first_ns : chunk.header.last_ns;
  }
  void look_at(const store::ChunkEntry& chunk, const store::EventColumns& columns,
               const std::vector<bool>& wanted_ids);

  const bool is_next_;
  const std::int64_t from_ns_;
  std::optional<timeline::EventPlace> best_;
};

}  // namespace shardlens::trace::explore
