#include "trace/store/sql/event_filter.h"

#include <algorithm>

namespace shardlens::trace::store {

namespace {

// The header's times span starts and ends of all events, also of reversed ones.
bool overlaps(const IntegerRange& range, const ChunkHeader& header) {
  return header.last_ns >= range.least && header.first_ns <= range.most;
}

}  // namespace

bool EventFilter::may_hold(const ChunkEntry& place) const {
  if (std::ranges::find(other_ranks, place.rank) != other_ranks.end()) return false;
  return !nothing && rank.holds(place.rank) && lane.holds(place.lane) &&
         overlaps(start_ns, place.header) && overlaps(end_ns, place.header);
}

RankFilter::RankFilter(const EventFilter& filter, const RankNames& names)
    : start_ns_(filter.start_ns), end_ns_(filter.end_ns), by_name_(!filter.names.empty()) {
  if (!filter.step.is_full() && filter.step.least >= 0) {
    std::int64_t first = INT64_MAX, last = INT64_MIN;
    for (const RankNames::Step& step : names.steps) {
      if (!filter.step.holds(step.index)) continue;
      first = std::min(first, step.start_ns);
      last = std::max(last, step.end_ns);
    }
    nothing_ = first > last;
    start_ns_.at_least(first);
    start_ns_.at_most(last);
  }
  if (!by_name_) return;
  bool any = false;
  wanted_.resize(names.strings.size());
  for (std::size_t id = 0; id < wanted_.size(); ++id) {
    wanted_[id] = std::ranges::all_of(filter.names,
                                      [&](const auto& holds) { return holds(names.strings[id]); });
    any = any || wanted_[id];
  }
  nothing_ = nothing_ || !any;
}

bool RankFilter::may_hold(const ChunkEntry& place) const {
  return !nothing_ && overlaps(start_ns_, place.header) && overlaps(end_ns_, place.header);
}

}  // namespace shardlens::trace::store
