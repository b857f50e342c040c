#include "trace/explore/paint/ribbon_painter.h"

namespace shardlens::trace {

RowPicture RankRibbon::picture() const {
  RowPicture result;
  result.is_exact = is_exact;
  result.is_complete = is_complete;
  result.pieces = pieces;
  if (!pieces.empty()) return result;
  result.columns = columns;
  join_columns(result.columns);
  return result;
}

int lod_level_of(double ns_per_pixel) {
  int level = 0;
  while (level + 1 < kLodLevels && static_cast<double>(lod_cell_ns(level + 1)) <= ns_per_pixel) {
    ++level;
  }
  return level;
}

Result<RankRibbon> rank_ribbon(const RankSnapshot& rank, Interval window, double ns_per_pixel,
                               const WindowActivity* activity) {
  RankRibbon ribbon;
  if (activity != nullptr) {
    const PixelGrid grid(ns_per_pixel);
    Ribbon exact = activity->ribbon(rank, grid);
    ribbon.is_exact = true;
    ribbon.is_complete = activity->is_complete && rank.has_all_rows;
    ribbon.columns = std::move(exact.columns);
    ribbon.pieces = std::move(exact.pieces);
    return ribbon;
  }
  const int level = lod_level_of(ns_per_pixel);
  const PixelGrid grid = grid_of_cells(lod_cell_ns(level), ns_per_pixel);
  TRY_ASSIGN(const auto classes, rank.source->read_classes(level, grid.around(window)));
  ribbon.is_complete = classes.is_complete;
  ribbon.columns = ribbon_columns(std::span<const ClassCell>(classes.cells), grid);
  return ribbon;
}

void MeanRibbon::add(const RankRibbon& rank) {
  is_exact_ = is_exact_ && rank.is_exact;
  is_complete_ = is_complete_ && rank.is_complete;
  columns_.add(rank.columns);
}

RowPicture MeanRibbon::picture() const {
  RowPicture result;
  result.is_exact = is_exact_;
  result.is_complete = is_complete_;
  result.columns = columns_.take();
  join_columns(result.columns);
  return result;
}

}  // namespace shardlens::trace
