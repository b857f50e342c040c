// The tiles of one rank, from its file or rebuilt, whole: with long events laid over them and idle
// time between them. Decoded ones are kept, up to a limit. One thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "trace/base/recently_used.h"
#include "trace/base/result.h"
#include "trace/store/lod/lod_codec.h"
#include "trace/store/lod/lod_file.h"
#include "trace/store/lod/lod_stretches.h"
#include "trace/store/lod/tiles/spill_store.h"

namespace shardlens::trace {

class LodTiles {
 public:
  static constexpr std::size_t kMostTilesAtOnce = 4096;

  // Of rebuilt tiles, compressed. Where all are rebuilt, as of a file without a pyramid, they take
  // half a byte per event of a busy rank, and several of a slow one.
  static constexpr std::size_t kMostRebuiltBytes = std::size_t{8} << 20;

  LodTiles(Database& database, int rank, std::size_t most_rebuilt_bytes = kMostRebuiltBytes)
      : file_(database, rank), rebuilt_data_(most_rebuilt_bytes) {}
  Result<void> load();

  const LodFile& file() const { return file_; }
  LodFile& file() { return file_; }
  const std::vector<LodStream>& streams() const { return streams_; }
  // The place in streams(); a new one for a stream that the file does not know.
  int number(const LodStream& stream);
  std::optional<int> find(const LodStream& stream) const;
  const Intervals& stretches() const { return stretches_; }

  using Tiles = std::vector<std::shared_ptr<const LodTile>>;
  // By place in streams(). Null: no events, or `is_damaged`.
  Result<std::shared_ptr<const LodTile>> tile(int stream, int level, std::int64_t index,
                                              bool& is_damaged);
  // Those of [first, last] that have events. `damaged` gets the tiles that could not be read.
  Result<Tiles> range(int stream, int level, std::int64_t first, std::int64_t last,
                      std::vector<std::int64_t>& damaged);
  // Takes the place of what the file has; a blank tile stands for one without events. `until_file`:
  // only until the file has it.
  void set(int stream, const LodTile& tile, bool until_file);
  // Those set for good, by place in streams(), that ended behind tile `closed` of level 0.
  std::vector<LodPlace> set_while_open(std::int64_t closed) const;
  // The tile is what the file says, or nothing.
  void forget(int stream, int level, std::int64_t index);
  void forget_all();
  std::vector<std::int64_t> rebuilt_in(int stream, int level, std::int64_t first,
                                       std::int64_t last) const;
  // Those set for streams of the file; no data: no events.
  using VisitRebuilt = std::function<Result<void>(const LodPlace&, std::span<const std::byte>)>;
  Result<void> visit_rebuilt(const VisitRebuilt& visit);
  // What long events and stretches are, where the file does not say.
  void set_lists(std::map<LodStream, std::vector<LodEvent>> long_events, Intervals stretches);

 private:
  struct Rebuilt {
    SpillStore::Block data;  // empty: a tile without events
    bool until_file = false;
  };
  using RebuiltTiles = std::map<std::int64_t, Rebuilt>;
  using Key = std::int64_t;
  struct Wanted {
    int stream = 0, level = 0;
    std::int64_t first = 0, last = 0;
  };
  struct Found {
    std::shared_ptr<const LodTile> tile;
    bool is_stored = false;  // the tile is all of it
    bool is_known = false;   // what the file has is out of date
  };
  using FoundTiles = std::map<std::int64_t, Found>;

  void set_long_events(int stream, std::vector<LodEvent> events);
  RebuiltTiles::iterator erase(RebuiltTiles::iterator rebuilt);
  Key key(int stream, int level, std::int64_t index) const;
  bool is_ribbon(int stream) const;
  std::shared_ptr<const LodTile> whole(int stream, int level, std::int64_t index,
                                       std::optional<LodTile> stored);
  std::shared_ptr<const LodTile> keep(Key key, std::shared_ptr<const LodTile> tile);
  std::shared_ptr<const LodTile> kept(Key key);
  Result<void> add_rebuilt(const Wanted& wanted, FoundTiles& found);
  Result<void> add_from_file(const Wanted& wanted, FoundTiles& found,
                             std::vector<std::int64_t>& damaged);
  std::vector<std::int64_t> between_stored(const Wanted& wanted) const;

  LodFile file_;
  LodCodec codec_;
  std::vector<LodStream> streams_;
  std::vector<int> file_numbers_;  // -1: not in the file
  std::map<LodStream, int> numbers_;
  std::vector<std::vector<LodEvent>> long_events_;  // by place in streams(), by start
  Intervals stretches_;
  RebuiltTiles rebuilt_;
  SpillStore rebuilt_data_;
  // Decoded tiles, 10 to 12 KiB each, 4 MiB in all: several screens full. A run has them for each
  // rank.
  RecentlyUsed<Key, std::shared_ptr<const LodTile>> kept_{
      (4u << 20) /
      ((std::size_t{1} << kLodTileBits) * std::max(sizeof(LodCell), sizeof(TimeByClass)))};
};

}  // namespace shardlens::trace
