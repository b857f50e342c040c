// The upper levels of one stream while it is written: one open tile per level, filled from closed
// tiles below. One owner.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>

#include "trace/base/result.h"
#include "trace/store/lod/lod_tile.h"

namespace shardlens::trace {

class LodPyramid {
 public:
  // Called for every tile once all its parts are there, before it is written and merged: `parts`
  // has a bit for each part that a tile was set for.
  using Complete = std::function<void(LodTile& tile, unsigned parts)>;
  using Write = std::function<Result<void>(const LodTile& tile)>;

  explicit LodPyramid(bool is_ribbon) : is_ribbon_(is_ribbon) {}

  // A whole tile of level 0, in order of index. Writes it and whatever it completes.
  Result<void> add(const LodTile& tile, const Complete& complete, const Write& write);
  // Writes the open tiles that end at or before tile `limit` of level 0.
  Result<void> close_before(std::int64_t limit, const Complete& complete, const Write& write);
  Result<void> close_all(const Complete& complete, const Write& write);

 private:
  struct OpenTile {
    LodTile tile;
    unsigned parts = 0;
  };
  Result<void> merge_up(const LodTile& tile, const Complete& complete, const Write& write);
  Result<void> close(int level, const Complete& complete, const Write& write);

  bool is_ribbon_;
  std::array<std::optional<OpenTile>, kLodLevels> open_;  // of level 0: never
};

}  // namespace shardlens::trace
