#include "trace/explore/paint/ribbon_painter.h"

#include <utility>

namespace shardlens::trace::explore {

int cell_bits_of(double ns_per_pixel) {
  int bits = kFinestCellBits;
  while (bits < kLongestCellBits && static_cast<double>(cell_length_ns(bits + 1)) <= ns_per_pixel) {
    ++bits;
  }
  return bits;
}

timeline::RowPicture rank_ribbon(const RankSnapshot& rank, base::Interval window,
                                 double ns_per_pixel, const WindowActivity* activity) {
  timeline::RowPicture ribbon;
  if (activity != nullptr) {
    ribbon = activity->ribbon(rank, timeline::PixelGrid(ns_per_pixel));
    ribbon.is_exact = true;
    ribbon.is_complete = activity->is_complete && rank.has_all_rows && !rank.awaits_events(window);
    return ribbon;
  }
  const int bits = cell_bits_of(ns_per_pixel);
  const timeline::PixelGrid grid = timeline::grid_of_cells(cell_length_ns(bits), ns_per_pixel);
  ribbon.is_complete = rank.overview->is_complete(bits, window) && !rank.awaits_events(window);
  ribbon.columns =
      timeline::ribbon_columns(rank.overview->classes(bits, grid.around(window)), grid);
  return ribbon;
}

timeline::RowPicture shown_ribbon(timeline::RowPicture ribbon) {
  if (ribbon.pieces.empty()) {
    timeline::join_columns(ribbon.columns);
  } else {
    ribbon.columns.clear();
  }
  return ribbon;
}

void MeanRibbon::add(const timeline::RowPicture& rank) {
  is_exact_ = is_exact_ && rank.is_exact;
  is_complete_ = is_complete_ && rank.is_complete;
  columns_.add(rank.columns);
}

timeline::RowPicture MeanRibbon::picture() const {
  timeline::RowPicture result;
  result.is_exact = is_exact_;
  result.is_complete = is_complete_;
  result.columns = columns_.take();
  return shown_ribbon(std::move(result));
}

}  // namespace shardlens::trace::explore
