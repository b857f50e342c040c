#include "trace/timeline/collective_parts.h"

#include <algorithm>

#include "trace/analysis/ribbon.h"
#include "trace/timeline/ribbon_columns.h"

namespace shardlens::trace {

PieceClass communication_class(Interval time, const Intervals& compute) {
  if (time.length() <= 0) time.end_ns = time.start_ns + 1;
  return length_within(compute, time) * 2 >= time.length() ? PieceClass::kOverlapped
                                                           : PieceClass::kExposed;
}

std::vector<Piece> split_by_exposure(const std::vector<Piece>& pieces, const Intervals& compute,
                                     PixelGrid grid) {
  std::vector<Piece> result;
  result.reserve(pieces.size() * 2);
  for (const Piece& piece : pieces) {
    if (!piece.ref.exists() || piece.duration_ns() < grid.column_ns()) {
      result.push_back(piece);
      continue;
    }
    const Interval whole{piece.start_ns, piece.end_ns};
    const auto exact = exact_partition({whole, compute, {whole}, {}, {}});
    for (const ClassPiece& part : without_slivers(exact, grid.column_ns())) {
      Piece& drawn = result.emplace_back(piece);
      drawn.start_ns = part.time.start_ns;
      drawn.end_ns = part.time.end_ns;
      drawn.piece_class = piece_class_of(part.bar_class);
    }
  }
  return result;
}

}  // namespace shardlens::trace
