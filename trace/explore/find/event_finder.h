// Finds single events again: by reference, by correlation, by name and step. Reads whole chunks;
// any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trace/base/result.h"
#include "trace/explore/run/run_snapshot.h"
#include "trace/timeline/values/name_hits.h"

namespace shardlens::trace::explore {

struct FoundEvent {
  store::ChunkEntry chunk;
  std::uint32_t index = 0;
  model::Event event;
};

class EventFinder {
 public:
  explicit EventFinder(const RunSnapshot& run) : run_(run) {}

  // Errors: kMissing for a reference to nothing, kDamaged for an unreadable chunk.
  base::Result<FoundEvent> at(const timeline::EventRef& ref) const;
  // The one with this correlation nearest in time to `near_ns`; not looked for far away.
  std::optional<FoundEvent> correlated(int rank, model::EventKind kind, std::uint64_t correlation,
                                       std::int64_t near_ns) const;
  // The innermost operator on a lane that runs at a time.
  std::optional<FoundEvent> operator_at(int rank, int lane, std::int64_t time_ns) const;
  // The launches on a lane that begin within a time, in order: what an operator launched.
  std::vector<FoundEvent> launches_in(int rank, int lane, base::Interval time) const;
  // What they started, by start: of each launch the one with its correlation nearest in time.
  std::vector<FoundEvent> started_by(std::span<const FoundEvent> launches,
                                     model::EventKind kind) const;
  // Those with the event's name on its lane that begin within a time, in order.
  std::vector<timeline::EventPlace> same_name(const FoundEvent& event, base::Interval time) const;
  // The longest with the event's name on its rank, in chunks of its kind.
  std::optional<timeline::EventPlace> longest_of_name(const FoundEvent& event) const;

  timeline::EventPlace place_of(const FoundEvent& event) const;
  timeline::EventPlace place_of(const store::ChunkEntry& chunk, std::uint32_t index,
                                base::Interval time) const;

 private:
  // The nearest in time first, none that is far away.
  std::vector<store::ChunkEntry> nearest_chunks(int rank, model::EventKind kind,
                                                std::int64_t near_ns) const;

  const RunSnapshot& run_;
};

}  // namespace shardlens::trace::explore
