// From sums over cells of equal length, as an overview holds them, to the pieces that are drawn.
// Pure functions, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/timeline/pieces/pixel_grid.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::timeline {

// What happened in one cell; cells without events may be left out.
struct SummaryCell {
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t busy_ns = 0;  // union of the events, within the cell
  float busiest = 0;         // the greatest share of a part
  std::int64_t count = 0;    // events that begin in it
  std::int64_t longest_ns = 0;
  std::uint32_t name = 0;  // of the longest
};

// The longest column of whole cells that is at most a pixel, at least one cell.
PixelGrid grid_of_cells(std::int64_t cell_ns, double ns_per_pixel);

// `cells` by start, of the length that `grid` is a multiple of. One piece per column in which
// anything happened, without a reference to an event.
std::vector<Piece> pieces_from_cells(std::span<const SummaryCell> cells, PixelGrid grid, int level,
                                     base::TimeClass piece_class);

}  // namespace shardlens::trace::timeline
