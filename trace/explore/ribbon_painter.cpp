#include "trace/explore/ribbon_painter.h"

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

RowPicture mean_ribbon(std::span<const RankRibbon* const> ranks) {
  RowPicture result;
  result.is_exact = true;
  std::vector<std::vector<RibbonColumn>> columns;
  for (const RankRibbon* rank : ranks) {
    result.is_exact = result.is_exact && rank->is_exact;
    result.is_complete = result.is_complete && rank->is_complete;
    columns.push_back(rank->columns);
  }
  result.columns = mean_columns(columns);
  join_columns(result.columns);
  return result;
}

}  // namespace shardlens::trace
