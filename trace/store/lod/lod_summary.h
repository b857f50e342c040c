// From events to a tile of level 0, from tiles to those of the next level. Any thread.
#pragma once

#include <span>

#include "trace/store/lod/lod_event.h"
#include "trace/store/lod/lod_tile.h"

namespace shardlens::trace {

inline constexpr int kLodTileCells = 1 << kLodTileBits;
inline constexpr int kLodParts = 1 << kLodFactorBits;  // tiles that make one of the next level

LodTile blank_lod_tile(int level, std::int64_t index, bool is_ribbon);
bool is_blank(const LodTile& tile);

// Where a time lies in a tile, in nanoseconds from its start; outside: 0 or its length.
inline std::int64_t offset_in_lod_tile(int level, std::int64_t index, std::int64_t time_ns) {
  const std::int64_t at = lod_tile_at(level, time_ns);
  const std::int64_t length = std::int64_t{1} << lod_tile_bits(level);
  if (at != index) return at < index ? 0 : length;
  return time_ns & (length - 1);
}

// A tile of level 0. `events`: at least those that touch it, ordered by start. Of equally long
// events the one with the greatest name is the longest, in whatever order they came.
LodTile summarize(std::int64_t index, std::span<const LodEvent> events);
// `before`: what began before the tile, in any order; `events` began in it or later.
LodTile summarize(std::int64_t index, std::span<const LodEvent> before,
                  std::span<const LodEvent> events);
// Lays a long event over the cells that it covers whole; what holds it already stays as it is.
void cover(LodTile& tile, const LodEvent& event);
// Sets the part of `parent` that is `child`.
void merge_part(LodTile& parent, const LodTile& child);

}  // namespace shardlens::trace
