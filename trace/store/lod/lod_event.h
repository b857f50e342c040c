// What the pyramid keeps of an event: when, and its name. Pure values and functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/base/intervals.h"
#include "trace/model/events.h"
#include "trace/store/lod/lod_tile.h"

namespace shardlens::trace {

// Ends at or after its start. A reversed event has no length, nor has one of more than a day, which
// is damage: such are counted where they begin.
struct LodEvent {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  StringId name = 0;

  std::int64_t duration_ns() const { return end_ns - start_ns; }
  bool operator==(const LodEvent&) const = default;
};

// What is longer ends when the tiles that it covers have long been written. Of a long event only
// the tiles of its start and end hold it; over those between it is laid when they are read or
// merged.
inline constexpr std::int64_t kLodLongNs = std::int64_t{1} << 32;  // 4.3 s
inline bool is_long(const LodEvent& event) { return event.duration_ns() > kLodLongNs; }
inline std::int64_t first_tile(const LodEvent& event) { return lod_tile_at(0, event.start_ns); }
// The tile of its last nanosecond.
inline std::int64_t last_tile(const LodEvent& event) {
  return lod_tile_at(0, event.end_ns - (event.end_ns > event.start_ns ? 1 : 0));
}

inline LodEvent lod_event(std::int64_t start_ns, std::int64_t duration_ns, StringId name) {
  const bool has_length =
      static_cast<std::uint64_t>(duration_ns) <= static_cast<std::uint64_t>(kLongestRowNs) &&
      start_ns <= INT64_MAX - duration_ns;
  return {start_ns, has_length ? start_ns + duration_ns : start_ns, name};
}
// Of rows with a start and an end, which may lie further apart than a number says.
inline LodEvent lod_event_between(std::int64_t start_ns, std::int64_t end_ns, StringId name) {
  const auto length = static_cast<std::int64_t>(static_cast<std::uint64_t>(end_ns) -
                                                static_cast<std::uint64_t>(start_ns));
  return lod_event(start_ns, end_ns < start_ns ? 0 : length, name);
}

// Allocations are no stream.
std::optional<LodKind> lod_kind(EventKind kind);
inline int lod_depth(int depth) {
  return depth < 0 ? 0 : depth < kLodDepths ? depth : kLodDepths - 1;
}
LodStream lod_stream_of(const Span& span);
LodStream lod_stream_of(const Collective& collective);
LodEvent lod_event_of(const Span& span);
LodEvent lod_event_of(const Collective& collective);

// A collective is named by its tag, or by its function: "bucket 3". That text is no interned
// string, its id stands for kind and number.
StringId lod_name_of(const Collective& collective);
inline bool is_lod_name(StringId name) { return (name & 0x8000'0000u) != 0; }
// Of such an id; "" for all others, which table `string` knows.
std::string lod_name_text(StringId name);

}  // namespace shardlens::trace
