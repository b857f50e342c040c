// Finds single events again: by reference, by correlation, by name and step. Reads whole chunks;
// any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/explore/run_snapshot.h"
#include "trace/model/result.h"
#include "trace/timeline/name_hits.h"

namespace shardlens::trace {

struct FoundEvent {
  ChunkEntry chunk;
  std::uint32_t index = 0;
  Event event;
};

class EventFinder {
 public:
  explicit EventFinder(const RunSnapshot& run) : run_(run) {}

  // Errors: kMissing for a reference to nothing, kDamaged for an unreadable chunk.
  Result<FoundEvent> at(const EventRef& ref) const;
  // The one with this correlation nearest in time to `near_ns`; not looked for far away.
  std::optional<FoundEvent> correlated(int rank, EventKind kind, std::uint64_t correlation,
                                       std::int64_t near_ns) const;
  // The innermost operator on a lane that runs at a time.
  std::optional<FoundEvent> operator_at(int rank, int lane, std::int64_t time_ns) const;
  // The first launch on a lane that begins within a time: what an operator launched.
  std::optional<FoundEvent> launch_in(int rank, int lane, Interval time) const;
  // Those with the event's name on its lane that begin within a time, in order.
  std::vector<EventPlace> same_name(const FoundEvent& event, Interval time) const;
  // The longest with the event's name on its rank, in chunks of its kind.
  std::optional<EventPlace> longest_of_name(const FoundEvent& event) const;

  EventPlace place_of(const FoundEvent& event) const;
  EventPlace place_of(const ChunkEntry& chunk, std::uint32_t index, Interval time) const;

 private:
  std::span<const ChunkEntry> chunks_of(int rank, EventKind kind,
                                        std::vector<ChunkEntry>& chunks) const;

  const RunSnapshot& run_;
};

}  // namespace shardlens::trace
