// The ribbon of a rank as tiles: what its time went to, by class. Any thread.
#pragma once

#include <cstdint>

#include "trace/base/time_partition.h"
#include "trace/store/lod/lod_event.h"
#include "trace/store/lod/lod_tile.h"

namespace shardlens::trace {

// Long work makes many tiles, so damaged times must not make many of it: of events only what is
// shorter counts, of collectives and steps an hour of longer ones in total.
inline constexpr std::int64_t kLodLongWorkNs = std::int64_t{1} << 36;  // 69 s
inline constexpr std::int64_t kLodMostLongWorkNs = std::int64_t{3600} * 1'000'000'000;
class LodLongWork {
 public:
  // Once per row; its times are plausible.
  bool takes(std::int64_t start_ns, std::int64_t end_ns) {
    const std::int64_t length = end_ns - start_ns;
    if (length <= kLodLongWorkNs) return true;
    if (length > kLodMostLongWorkNs - taken_ns_) return false;
    taken_ns_ += length;
    return true;
  }

 private:
  std::int64_t taken_ns_ = 0;
};

// `sets`: at least what touches the tile; of what is not in `known` nothing is idle.
LodTile ribbon_tile(std::int64_t index, const ActivitySets& sets, const Intervals& known);
// A tile of any level in which nothing ran: what an absent tile is.
LodTile idle_tile(int level, std::int64_t index, const Intervals& known);
bool is_idle(const LodTile& tile, const Intervals& known);

}  // namespace shardlens::trace
