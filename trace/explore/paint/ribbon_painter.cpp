#include "trace/explore/paint/ribbon_painter.h"

namespace shardlens::trace::explore {

timeline::RowPicture RankRibbon::picture() const {
  timeline::RowPicture result;
  result.is_exact = is_exact;
  result.is_complete = is_complete;
  result.pieces = pieces;
  if (!pieces.empty()) return result;
  result.columns = columns;
  timeline::join_columns(result.columns);
  return result;
}

int cell_bits_of(double ns_per_pixel) {
  int bits = kFinestCellBits;
  while (bits < kLongestCellBits && static_cast<double>(cell_length_ns(bits + 1)) <= ns_per_pixel) {
    ++bits;
  }
  return bits;
}

RankRibbon rank_ribbon(const RankSnapshot& rank, base::Interval window, double ns_per_pixel,
                       const WindowActivity* activity) {
  RankRibbon ribbon;
  if (activity != nullptr) {
    const timeline::PixelGrid grid(ns_per_pixel);
    timeline::Ribbon exact = activity->ribbon(rank, grid);
    ribbon.is_exact = true;
    ribbon.is_complete = activity->is_complete && rank.has_all_rows && !rank.awaits_events(window);
    ribbon.columns = std::move(exact.columns);
    ribbon.pieces = std::move(exact.pieces);
    return ribbon;
  }
  const int bits = cell_bits_of(ns_per_pixel);
  const timeline::PixelGrid grid = timeline::grid_of_cells(cell_length_ns(bits), ns_per_pixel);
  ribbon.is_complete = rank.overview->is_complete(bits, window) && !rank.awaits_events(window);
  ribbon.columns =
      timeline::ribbon_columns(rank.overview->classes(bits, grid.around(window)), grid);
  return ribbon;
}

void MeanRibbon::add(const RankRibbon& rank) {
  is_exact_ = is_exact_ && rank.is_exact;
  is_complete_ = is_complete_ && rank.is_complete;
  columns_.add(rank.columns);
}

timeline::RowPicture MeanRibbon::picture() const {
  timeline::RowPicture result;
  result.is_exact = is_exact_;
  result.is_complete = is_complete_;
  result.columns = columns_.take();
  timeline::join_columns(result.columns);
  return result;
}

}  // namespace shardlens::trace::explore
