#include "trace/timeline/pieces/cell_pieces.h"

#include <algorithm>

#include "trace/base/intervals.h"

namespace shardlens::trace::timeline {

PixelGrid grid_of_cells(std::int64_t cell_ns, double ns_per_pixel) {
  cell_ns = std::max<std::int64_t>(cell_ns, 1);
  const double cells = ns_per_pixel / static_cast<double>(cell_ns);
  const std::int64_t most = std::clamp<std::int64_t>(base::kLatestTimeNs / cell_ns, 1, 1'000'000);
  const auto whole =
      cells >= 1 ? static_cast<std::int64_t>(std::min(cells, static_cast<double>(most))) : 1;
  return PixelGrid::of_columns(whole * cell_ns);
}

std::vector<Piece> pieces_from_cells(std::span<const SummaryCell> cells, PixelGrid grid, int level,
                                     base::TimeClass piece_class) {
  std::vector<Piece> pieces;
  std::int64_t column = INT64_MIN;
  double busy_ns = 0;
  std::int64_t count = 0;
  const auto finish = [&] {
    if (pieces.empty()) return;
    Piece& piece = pieces.back();
    // The part of a column beyond the cells that are there is not known to be idle.
    piece.busy = static_cast<float>(std::min(
        1.0, busy_ns / static_cast<double>(std::max<std::int64_t>(piece.duration_ns(), 1))));
    piece.busiest = std::max(piece.busiest, piece.busy);
    piece.count = static_cast<std::uint32_t>(std::clamp<std::int64_t>(count, 0, UINT32_MAX));
  };
  for (const SummaryCell& cell : cells) {
    if (cell.count <= 0 && cell.busy_ns <= 0) continue;
    if (pieces.empty() || grid.column_at(cell.start_ns) != column) {
      finish();
      column = grid.column_at(cell.start_ns);
      Piece& piece = pieces.emplace_back();
      piece.start_ns = cell.start_ns;
      piece.busiest = 0;
      piece.longest_ns = -1;
      piece.level = static_cast<std::uint8_t>(std::clamp(level, 0, 255));
      piece.piece_class = piece_class;
      busy_ns = 0;
      count = 0;
    }
    Piece& piece = pieces.back();
    piece.end_ns = cell.end_ns;
    piece.busiest = std::max(piece.busiest, cell.busiest);
    busy_ns += static_cast<double>(cell.busy_ns);
    count += cell.count;
    if (cell.longest_ns > piece.longest_ns) {
      piece.longest_ns = cell.longest_ns;
      piece.name = cell.name;
    }
  }
  finish();
  return pieces;
}

}  // namespace shardlens::trace::timeline
