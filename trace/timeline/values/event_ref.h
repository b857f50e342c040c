// Which recorded event is meant, so that it can be found again in its file. Plain value, any
// thread.
#pragma once

#include <cstdint>

namespace shardlens::trace::timeline {

enum class EventTableKind : std::uint8_t {
  kNone,
  kOperator,
  kKernel,
  kLaunch,
  kCopy,
  kAllocation,
  kSpan,
  kCollective,
};

struct EventRef {
  EventTableKind table = EventTableKind::kNone;
  int rank = -1;
  std::int64_t row = 0;     // row id: of the chunk, or of the span or collective itself
  std::uint32_t index = 0;  // within the chunk

  bool exists() const { return table != EventTableKind::kNone; }
  bool operator==(const EventRef&) const = default;
};

}  // namespace shardlens::trace::timeline
