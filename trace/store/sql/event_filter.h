// What a query asks of bulk events, as far as it can be decided before a row is made: chunks that
// cannot hold an answer are never decoded. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trace/store/sql/event_source.h"

namespace shardlens::trace::store {

// Closed; full by default.
struct IntegerRange {
  std::int64_t least = INT64_MIN, most = INT64_MAX;
  bool holds(std::int64_t value) const { return value >= least && value <= most; }
  bool is_full() const { return least == INT64_MIN && most == INT64_MAX; }
  void at_least(std::int64_t value) { least = std::max(least, value); }
  void at_most(std::int64_t value) { most = std::min(most, value); }
};

struct EventFilter {
  bool nothing = false;  // a comparison with NULL
  IntegerRange rank, lane, start_ns, end_ns, step;
  std::vector<std::int64_t> other_ranks;    // than these
  std::optional<std::int64_t> correlation;  // exactly this
  // All must hold for an event's name; each is asked once per string and rank, not per event.
  std::vector<std::function<bool(const std::string&)>> names;

  // By its header alone.
  bool may_hold(const ChunkEntry& place) const;
  bool looks_at_events() const {
    return !start_ns.is_full() || !end_ns.is_full() || !names.empty() || !step.is_full();
  }
};

// A filter with what it means for one rank: which names, which times.
class RankFilter {
 public:
  RankFilter() = default;
  RankFilter(const EventFilter& filter, const RankNames& names);

  bool may_hold(const ChunkEntry& place) const;
  bool holds(const model::Event& event) const {
    return start_ns_.holds(event.start_ns) && end_ns_.holds(event.end_ns()) &&
           (!by_name_ || (event.name < wanted_.size() && wanted_[event.name]));
  }

 private:
  IntegerRange start_ns_, end_ns_;
  bool by_name_ = false;
  bool nothing_ = false;
  std::vector<bool> wanted_;  // by id
};

}  // namespace shardlens::trace::store
