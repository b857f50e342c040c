// Table `lod`: where its rows lie, and the lists beside the tiles. Pure functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/lod/lod_codec.h"
#include "trace/store/lod/lod_event.h"
#include "trace/store/lod/lod_ribbon.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace {

// Rows are ordered by rank, level, stream and tile, so that a look at a stretch of a level reads
// few pages. (Without a row id, rows of more than a quarter of a page would waste one each.)
std::int64_t lod_row_id(const LodPlace& place);
LodPlace lod_place(std::int64_t row_id);
// For an insert into all columns. Returns the row's checksum.
std::int64_t bind_lod_row(Statement& insert, const LodPlace& place,
                          std::span<const std::byte> data);
bool has_lod_row(const LodPlace& place);         // whether the row id can tell the place
inline constexpr int kMostLodStreams = 1 << 12;  // of a rank; further ones are not in the pyramid
inline constexpr std::int64_t kFirstLodTile = lod_tile_at(0, INT64_MIN);
inline constexpr std::int64_t kLastLodTile = lod_tile_at(0, INT64_MAX);
// Column `lod_ns` of a commit while no tile is closed, and once all are.
inline constexpr std::int64_t kNoLodTileClosed = 0, kAllLodTilesClosed = INT64_MAX;

// Levels of rows that are no tiles.
inline constexpr int kLodLongLevel = kLodLevels;         // by stream: lists of its long events
inline constexpr int kLodStretchLevel = kLodLevels + 1;  // stream 0, tile 0: what was recorded
inline constexpr int kLodMissingLevel = kLodLevels + 2;  // stream 0: lists of spoiled tiles

// Tiles of level 0 that no longer are what they should be, as later events touch them; neither are
// those above them.
struct LodSpoiled {
  int stream = 0;
  std::int64_t first = 0, last = 0;

  bool operator==(const LodSpoiled&) const = default;
};

std::vector<std::byte> encode_long_events(std::span<const LodEvent> events);
std::vector<std::byte> encode_stretches(std::span<const Interval> stretches);
std::vector<std::byte> encode_spoiled(std::span<const LodSpoiled> spoiled);
// Errors: kDamaged.
Result<std::vector<LodEvent>> decode_long_events(std::span<const std::byte> data);
Result<Intervals> decode_stretches(std::span<const std::byte> data);
Result<std::vector<LodSpoiled>> decode_spoiled(std::span<const std::byte> data);

}  // namespace shardlens::trace
