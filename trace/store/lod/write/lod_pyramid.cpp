#include "trace/store/lod/write/lod_pyramid.h"

#include "trace/store/lod/lod_summary.h"

namespace shardlens::trace {

Result<void> LodPyramid::add(const LodTile& tile, const Complete& complete, const Write& write) {
  TRY(close_before(tile.index, complete, write));
  TRY(write(tile));
  return merge_up(tile, complete, write);
}

Result<void> LodPyramid::merge_up(const LodTile& tile, const Complete& complete,
                                  const Write& write) {
  const int level = tile.level + 1;
  if (level == kLodLevels) return {};
  auto& open = open_[static_cast<std::size_t>(level)];
  const std::int64_t index = tile.index >> kLodFactorBits;
  if (open && open->tile.index != index) TRY(close(level, complete, write));
  if (!open) open = OpenTile{blank_lod_tile(level, index, is_ribbon_), 0};
  merge_part(open->tile, tile);
  open->parts |= 1u << (tile.index & (kLodParts - 1));
  return {};
}

Result<void> LodPyramid::close(int level, const Complete& complete, const Write& write) {
  OpenTile closed = std::move(*open_[static_cast<std::size_t>(level)]);
  open_[static_cast<std::size_t>(level)].reset();
  complete(closed.tile, closed.parts);
  TRY(write(closed.tile));
  return merge_up(closed.tile, complete, write);
}

Result<void> LodPyramid::close_before(std::int64_t limit, const Complete& complete,
                                      const Write& write) {
  for (int level = 1; level < kLodLevels; ++level) {
    const auto& open = open_[static_cast<std::size_t>(level)];
    if (!open) continue;
    const bool is_past = open->tile.index < limit >> (kLodFactorBits * level);
    if (is_past) TRY(close(level, complete, write));
  }
  return {};
}

Result<void> LodPyramid::close_all(const Complete& complete, const Write& write) {
  for (int level = 1; level < kLodLevels; ++level) {
    if (open_[static_cast<std::size_t>(level)]) TRY(close(level, complete, write));
  }
  return {};
}

}  // namespace shardlens::trace
