// One event as it is handed to what draws it: its time put in order, its class decided. Plain
// value, any thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "trace/base/intervals.h"
#include "trace/timeline/values/event_ref.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::timeline {

struct DrawnEvent {
  base::Interval time;  // not reversed; may be empty
  std::uint32_t name = 0;
  int level = 0;
  base::TimeClass piece_class = base::TimeClass::kCompute;
  std::int64_t latest_start_ns = 0;
  std::int32_t collective = -1;  // as Piece's
  EventRef ref;
};

inline std::int64_t drawn_instant(std::int64_t time_ns) {
  return std::clamp(time_ns, -base::kLatestTimeNs, base::kLatestTimeNs);
}
// From start and end in either order: an event that ended before it began is drawn from the earlier
// time.
inline base::Interval drawn_time(std::int64_t start_ns, std::int64_t end_ns) {
  const std::int64_t start = drawn_instant(start_ns), end = drawn_instant(end_ns);
  return end < start ? base::Interval{end, start} : base::Interval{start, end};
}
inline base::Interval drawn_event_time(std::int64_t start_ns, std::int64_t duration_ns) {
  const std::int64_t start = drawn_instant(start_ns);
  return drawn_time(start, start + drawn_instant(duration_ns));
}

// Whether any of it can be seen in the window. An event without length is at its start.
inline bool is_drawn_in(base::Interval time, base::Interval window) {
  return time.start_ns < window.end_ns &&
         (time.end_ns > window.start_ns || time.start_ns >= window.start_ns);
}

}  // namespace shardlens::trace::timeline
