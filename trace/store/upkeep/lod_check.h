// Checks the pyramid of one rank in an open trace file: every tile and list, and that the tiles
// count as many events as were recorded. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "trace/base/result.h"
#include "trace/store/lod/lod_codec.h"
#include "trace/store/lod/lod_tile.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace {

class LodCheck {
 public:
  // `found` is told what is damaged; `goes_on` of every row's bytes, false ends the check.
  LodCheck(Database& database, int rank, std::function<void(std::string)> found,
           std::function<bool(std::int64_t)> goes_on);

  // Errors: of SQLite.
  Result<void> check_rows();
  // Only where the recording ended in order. `recorded`: events by lane and kind.
  using Counts = std::map<std::pair<int, LodKind>, std::int64_t>;
  void check_counts(const Counts& recorded);

 private:
  Result<void> load_streams();
  void check_row(const LodPlace& place, std::int64_t checksum, std::span<const std::byte> data);
  void check_list(const LodPlace& place, std::int64_t checksum, std::span<const std::byte> data);

  Database& database_;
  const int rank_;
  std::function<void(std::string)> found_;
  std::function<bool(std::int64_t)> goes_on_;
  LodCodec codec_;
  std::map<int, LodStream> streams_;
  std::map<std::pair<int, int>, std::int64_t> counts_;  // by stream and level
  bool is_countable_ = true;  // every tile could be read, and none is spoiled
};

}  // namespace shardlens::trace
