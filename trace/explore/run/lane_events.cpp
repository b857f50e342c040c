#include "trace/explore/run/lane_events.h"

#include <algorithm>
#include <tuple>

namespace shardlens::trace {

namespace {

// Whether its events are in order of start and none ends before it begins.
bool is_plain(const EventColumns& columns) {
  if (!columns.is_ordered()) return false;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns.duration_ns(i) < 0) return false;
  }
  return true;
}

}  // namespace

EventTableKind table_of(EventKind kind) {
  switch (kind) {
    case EventKind::kOperator:
      return EventTableKind::kOperator;
    case EventKind::kKernel:
      return EventTableKind::kKernel;
    case EventKind::kLaunch:
      return EventTableKind::kLaunch;
    case EventKind::kCopy:
      return EventTableKind::kCopy;
    case EventKind::kAllocation:
      return EventTableKind::kAllocation;
  }
  return EventTableKind::kNone;
}

EventKind kind_of(EventTableKind table) {
  switch (table) {
    case EventTableKind::kKernel:
      return EventKind::kKernel;
    case EventTableKind::kLaunch:
      return EventKind::kLaunch;
    case EventTableKind::kCopy:
      return EventKind::kCopy;
    case EventTableKind::kAllocation:
      return EventKind::kAllocation;
    default:
      return EventKind::kOperator;
  }
}

LaneEvents::LaneEvents(EventStore& store, int rank, int lane, EventKind kind, Interval window)
    : window_(window) {
  std::int64_t last_start_ns = INT64_MIN;
  for (const ChunkEntry& chunk :
       store.chunks_in(rank, lane, kind, window.start_ns, window.end_ns)) {
    auto columns = store.load(chunk);
    if (!columns) {
      is_complete_ = false;
      continue;
    }
    const std::size_t size = (*columns)->size();
    if (size == 0) continue;
    is_sorted_ = is_sorted_ && is_plain(**columns) && (*columns)->start_ns(0) >= last_start_ns;
    last_start_ns = (*columns)->start_ns(size - 1);
    parts_.push_back({chunk, std::move(*columns)});
  }
}

std::vector<LaneEvents::Place> LaneEvents::places() const {
  std::vector<Place> result;
  for (std::uint32_t part = 0; part < parts_.size(); ++part) {
    const EventColumns& columns = *parts_[part].columns;
    for (std::uint32_t i = 0; i < columns.size(); ++i) {
      const Interval time = drawn_event_time(columns.start_ns(i), columns.duration_ns(i));
      if (is_drawn_in(time, window_)) result.push_back({time, part, i});
    }
  }
  std::ranges::stable_sort(result, {}, [](const Place& place) { return place.time.start_ns; });
  return result;
}

}  // namespace shardlens::trace
