// Finds which tiles of a rank are missing (its file was cut off, is being written, or got
// late events) and makes them again, bottom up, a few at a time. One thread
// at a time.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/lod/lod_stretches.h"
#include "trace/store/lod/tiles/lod_missing.h"
#include "trace/store/lod/tiles/lod_source.h"
#include "trace/store/lod/tiles/lod_tiles.h"

namespace shardlens::trace {

class LodRebuild {
 public:
  LodRebuild(Database& database, int rank)
      : database_(&database), tiles_(database, rank), source_(database, rank) {}

  // Opens, or takes in what was committed since.
  Result<void> load();
  // True while there is more to do.
  Result<bool> rebuild_some();
  bool is_missing(int stream, int level, std::int64_t first, std::int64_t last) const;
  // A tile whose data cannot be read.
  void add_damaged(int stream, int level, std::int64_t index) {
    missing_.add_wrong_at(stream, level, index);
  }
  double fraction() const;

  LodTiles& tiles() { return tiles_; }
  const LodTiles& tiles() const { return tiles_; }

 private:
  Result<void> load_in_transaction();
  Result<void> find_source(std::int64_t from_ns);
  void use_found_lists();
  void see(const LodSource::Item& item);
  void add_changed_ribbon(std::int64_t first, std::int64_t last);
  void add_missing(std::int64_t first, std::int64_t last);
  void add_open_chain();
  void add_spoiled();
  void add_grown_stretches(const Intervals& before);
  bool is_scanning() const;
  Result<void> scan_some();
  Result<void> rebuild_bottom(std::int64_t index);
  Result<void> rebuild_upper(int level, std::int64_t index);
  void set(int stream, const LodTile& tile, bool until_file);

  Database* database_;
  LodTiles tiles_;
  LodSource source_;
  std::int64_t source_from_ns_ = INT64_MAX;  // where source_ begins
  bool is_loaded_ = false;
  bool has_lists_ = false;  // of long events and stretches: from the file
  std::size_t known_spoiled_ = 0;
  LodMissing missing_;
  std::map<LodStream, std::vector<LodEvent>> long_events_;  // found, where the file has no lists
  LodStretches stretches_;
  std::int64_t rebuilt_ = 0;
};

}  // namespace shardlens::trace
