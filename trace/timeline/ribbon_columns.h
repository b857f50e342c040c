// Where a rank's time went, by class, as columns of a pixel: the ribbon. Pure functions, any
// thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/analysis/step_timeline.h"
#include "trace/timeline/class_sweep.h"
#include "trace/timeline/picture.h"
#include "trace/timeline/pixel_grid.h"

namespace shardlens::trace {

PieceClass piece_class_of(BarClass bar_class);

// Nanoseconds by class of one cell of a pyramid.
struct ClassCell {
  std::int64_t start_ns = 0, end_ns = 0;
  std::array<std::int64_t, kRibbonClasses> ns{};
};

// What a rank did in a window, as columns; as pieces, too, where there are no more of them than
// columns.
struct Ribbon {
  std::vector<RibbonColumn> columns;
  std::vector<Piece> pieces;
};
Ribbon exact_ribbon(const ActivitySets& sets, Interval window, PixelGrid grid);
// `cells` by start, of a length that `grid` is a multiple of.
std::vector<RibbonColumn> ribbon_columns(std::span<const ClassCell> cells, PixelGrid grid);
// The mean over `ranks`, all on one grid; a rank without a column adds nothing to it.
std::vector<RibbonColumn> mean_columns(std::span<const std::vector<RibbonColumn>> ranks);

// Joins neighbours that touch and whose shares differ by less than can be seen.
void join_columns(std::vector<RibbonColumn>& columns);

}  // namespace shardlens::trace
