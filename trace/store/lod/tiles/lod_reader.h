// The pyramid of a run's files: tiles that were recorded, and those rebuilt where some are missing,
// damaged, or out of date as late events touch them. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/lod/lod_tile.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace {

class LodReader {
 public:
  // `file` outlives this; `rank`: one of its ranks. Reads no tile and no event.
  static Result<std::unique_ptr<LodReader>> open(Database& file, int rank);
  ~LodReader();

  // Grows with refresh(), and with rebuild_some() where the file does not tell them.
  const std::vector<LodStream>& streams() const;
  // Whole nanoseconds [first, last) for which anything was recorded; {0, 0} for nothing.
  struct Extent {
    std::int64_t first_ns = 0, last_ns = 0;
  };
  Extent extent() const;

  // Tiles of a stream that touch [start_ns, end_ns), in order; those without events are left out.
  // `is_complete` is false where some would have to be rebuilt first; those are left out, or as
  // they last were. Errors: kUsage for a range of more than 4096 tiles that hold something.
  struct Tiles {
    std::vector<std::shared_ptr<const LodTile>> tiles;
    bool is_complete = true;
  };
  Result<Tiles> read(const LodStream& stream, int level, std::int64_t start_ns,
                     std::int64_t end_ns);

  // Rebuilds the next few missing tiles, in memory; true while more are missing. For a background
  // thread that lets others read in between. `fraction`: how much of the rank is there, 0 to 1.
  Result<bool> rebuild_some();
  double fraction() const;
  // What was committed since: of a live run.
  Result<void> refresh();

 private:
  struct State;
  explicit LodReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace shardlens::trace
