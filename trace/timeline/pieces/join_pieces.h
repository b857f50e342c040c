// Runs of folded pieces that look the same become one, so that there is less to draw. Pure
// function, any thread.
#pragma once

#include <vector>

#include "trace/timeline/pieces/pixel_grid.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::timeline {

// Of the busy share: two pieces look the same up to here.
inline constexpr float kSameShade = 1.0F / 16;

// `pieces` by level, then start. Joins neighbours shorter than a few columns of `grid` whose class
// is the same, which lie less than a column apart and whose busy share differs by less than
// kSameShade from that of the whole. Events of at least a column stay as they are.
void join_pieces(std::vector<Piece>& pieces, PixelGrid grid);

}  // namespace shardlens::trace::timeline
