// The part of RowPainter that draws from overviews.
#include <algorithm>

#include "trace/explore/paint/ribbon_painter.h"
#include "trace/explore/paint/row_painter.h"
#include "trace/model/activity.h"
#include "trace/timeline/pieces/join_pieces.h"

namespace shardlens::trace {

namespace {

TimeClass class_of_row(RowKind kind) {
  switch (kind) {
    case RowKind::kOperators:
    case RowKind::kLaunches:
      return TimeClass::kHost;
    case RowKind::kCopies:
      return TimeClass::kCopy;
    default:
      return TimeClass::kCompute;
  }
}

bool is_communication(const RankSnapshot& rank, const TimelineRow& row) {
  const Lane* const lane = rank.rows->lane(row.lane);
  return row.kind == RowKind::kKernels && lane != nullptr && lane->kind == LaneKind::kCommunication;
}

}  // namespace

void RowPainter::class_by_ribbon(const RowTask& task, RowPicture& picture) const {
  const int bits = cell_bits_of(task.ns_per_pixel);
  const PixelGrid grid = grid_of_cells(cell_length_ns(bits), task.ns_per_pixel);
  picture.is_complete = picture.is_complete && task.rank->overview->is_complete(bits, task.window);
  const auto columns =
      ribbon_columns(task.rank->overview->classes(bits, grid.around(task.window)), grid);
  for (Piece& piece : picture.pieces) {
    float overlapped = 0, exposed = 0;
    for (auto column = std::ranges::upper_bound(columns, piece.start_ns, {}, &RibbonColumn::end_ns);
         column != columns.end() && column->start_ns < piece.end_ns; ++column) {
      overlapped += column->share[index_of(TimeClass::kOverlapped)];
      exposed += column->share[index_of(TimeClass::kExposed)];
    }
    piece.piece_class = overlapped > exposed ? TimeClass::kOverlapped : TimeClass::kExposed;
  }
}

RowDraft RowPainter::paint_cells(const RowTask& task) const {
  const RowKind kind = task.row->kind;
  const int bits = cell_bits_of(task.ns_per_pixel);
  const PixelGrid grid = grid_of_cells(cell_length_ns(bits), task.ns_per_pixel);
  RowDraft draft;
  RowPicture& picture = draft.picture;
  const RankOverview& overview = *task.rank->overview;
  picture.is_complete = overview.is_complete(bits, task.window);
  for (const OverviewLane& lane : overview.lanes(task.row->lane, event_kind_of(kind))) {
    const auto cells = overview.cells(lane, bits, grid.around(task.window));
    const auto pieces = pieces_from_cells(cells, grid, lane.depth, class_of_row(kind));
    picture.pieces.insert(picture.pieces.end(), pieces.begin(), pieces.end());
  }
  if (is_communication(*task.rank, *task.row)) {
    class_by_ribbon(task, picture);
  } else if (kind == RowKind::kKernels) {
    for (Piece& piece : picture.pieces) {
      const Interval time{piece.start_ns, piece.end_ns};
      if (length_within(task.rank->rows->optimizer, time) * 2 < time.length()) continue;
      piece.piece_class = TimeClass::kOptimizer;
    }
  }
  join_pieces(picture.pieces, grid);
  for (Piece& piece : picture.pieces) {
    piece.name = run_.store->global_name(task.rank->rank, piece.name);
  }
  return draft;
}

}  // namespace shardlens::trace
