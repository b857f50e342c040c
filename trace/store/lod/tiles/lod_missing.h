// Which tiles of a rank still have to be made: of all streams, or of single ones. One owner.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "trace/store/lod/lod_tile.h"
#include "trace/store/lod/lod_tile_ranges.h"

namespace shardlens::trace {

class LodMissing {
 public:
  // Tiles [first, last] of level 0 and those above them; of all streams, or of one.
  void add(std::int64_t first, std::int64_t last);
  void add_of(int stream, std::int64_t first, std::int64_t last);
  void add_at(int level, std::int64_t index);
  // What the file has is wrong, and stays so once it is rebuilt.
  void add_wrong(int stream, std::int64_t first, std::int64_t last);
  void add_wrong_at(int stream, int level, std::int64_t index);
  // The file was mended.
  void forget_wrong();

  bool touches(int stream, int level, std::int64_t first, std::int64_t last) const;
  // kLodLevels: nothing is missing.
  int lowest_level() const;
  std::int64_t first_at(int level) const;  // INT64_MAX: none
  std::int64_t count_at_bottom() const;

  // Takes a tile: its streams, and whether it is needed only until the file has it.
  struct OfStream {
    int stream = 0;
    bool until_file = false;
  };
  std::vector<OfStream> take(int level, std::int64_t index, int streams);

 private:
  using OfStreams = std::map<int, LodTileRanges>;
  static bool touches(const OfStreams& ranges, int stream, std::int64_t first, std::int64_t last);

  std::array<LodTileRanges, kLodLevels> of_all_;
  std::array<OfStreams, kLodLevels> of_some_;
  std::array<OfStreams, kLodLevels> wrong_in_file_;
};

}  // namespace shardlens::trace
