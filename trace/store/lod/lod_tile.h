// Level of detail: what a stretch of one stream of events looks like from afar. A tile is 256 cells
// of one level; a cell of level 0 is 2^20 ns (1 ms), of each further level four times as long.
// Pure values and functions, any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trace/base/time_partition.h"
#include "trace/model/events.h"

namespace shardlens::trace {

inline constexpr int kLodCellBits = 20;  // nanoseconds of a cell of level 0, as a power of two
inline constexpr int kLodFactorBits = 2;
inline constexpr int kLodTileBits = 8;  // cells of a tile
inline constexpr int kLodLevels = 10;   // the last one's cells are 275 s long
inline constexpr int kLodDepths = 8;    // operators nested deeper are put to the deepest

inline constexpr int lod_cell_bits(int level) { return kLodCellBits + level * kLodFactorBits; }
inline constexpr std::int64_t lod_cell_ns(int level) {
  return std::int64_t{1} << lod_cell_bits(level);
}
inline constexpr int lod_tile_bits(int level) { return lod_cell_bits(level) + kLodTileBits; }
// The tile that holds a time; rounds down, for times before 1970, too.
inline constexpr std::int64_t lod_tile_at(int level, std::int64_t time_ns) {
  return time_ns >> lod_tile_bits(level);
}

// What is summed up as one: a lane's events of one kind and depth, or the ribbon of a rank.
enum class LodKind : std::uint8_t {
  kOperator,
  kKernel,
  kLaunch,
  kCopy,
  kSpan,
  kCollective,
  kRibbon
};
std::string_view to_string(LodKind);

struct LodStream {
  int lane = 0;  // kRibbon: 0
  LodKind kind = LodKind::kKernel;
  int depth = 0;  // operators and spans: of nesting; else 0

  auto operator<=>(const LodStream&) const = default;
};

// Of a cell of a level above 0 the same follows from its four parts: sums, and the greatest.
struct LodCell {
  std::int64_t busy_ns = 0;     // union of the events, within the cell
  std::int64_t busiest_ns = 0;  // the greatest busy_ns of a cell of level 0 inside
  std::int64_t count = 0;       // events that begin in it
  std::int64_t longest_ns = 0;  // duration of the longest event that touches it, whole
  StringId longest_name = 0;    // a collective: see lod_name_text() in lod_event.h

  bool operator==(const LodCell&) const = default;
};

struct LodTile {
  int level = 0;
  std::int64_t index = 0;      // its first nanosecond is index << lod_tile_bits(level)
  std::vector<LodCell> cells;  // 256, or none for the ribbon
  // 256 of the ribbon, else none. A cell's sum is its length where the rank recorded; what is not
  // there at all is in none of its classes.
  std::vector<TimeByClass> classes;

  std::int64_t start_ns() const { return index << lod_tile_bits(level); }
  bool operator==(const LodTile&) const = default;
};

}  // namespace shardlens::trace
