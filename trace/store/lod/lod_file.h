// The pyramid of one rank as it stands in a file: its streams, its lists, its tiles' data. One
// thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/lod/lod_rows.h"
#include "trace/store/lod/lod_tile.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace {

class LodFile {
 public:
  // `database` outlives this.
  LodFile(Database& database, int rank) : database_(&database), rank_(rank) {}

  // Reads all but the tiles; again for what was committed since. Where that is damaged, the file is
  // taken to have no pyramid. Errors: of SQLite.
  Result<void> load();

  int rank() const { return rank_; }
  Database& database() { return *database_; }
  // Tiles of level 0 before this are there, or empty.
  std::int64_t closed() const { return closed_; }
  bool is_complete() const { return closed_ > kLastLodTile; }
  bool has_any() const { return closed_ != kFirstLodTile; }
  // Whether long events and stretches are told; else they have to be found.
  bool has_lists() const { return has_any(); }
  const std::map<int, LodStream>& streams() const { return streams_; }  // by number
  const std::map<int, std::vector<LodEvent>>& long_events() const { return long_events_; }
  const Intervals& stretches() const { return stretches_; }
  const std::vector<LodSpoiled>& spoiled() const { return spoiled_; }  // in order of writing

  // Calls visit(tile, checksum, data) for the rows of [first, last], in order.
  using Visit = std::function<Result<void>(std::int64_t, std::int64_t, std::span<const std::byte>)>;
  Result<void> visit(int level, int stream, std::int64_t first, std::int64_t last,
                     const Visit& visit);

 private:
  Result<void> load_closed();
  Result<void> load_streams();
  Result<void> load_lists();
  void forget();

  Database* database_;
  int rank_;
  std::int64_t closed_ = kFirstLodTile;
  std::map<int, LodStream> streams_;
  std::map<int, std::vector<LodEvent>> long_events_;
  Intervals stretches_;
  std::vector<LodSpoiled> spoiled_;
  Statement select_;
};

}  // namespace shardlens::trace
