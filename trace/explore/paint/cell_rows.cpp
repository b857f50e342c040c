// The part of RowPainter that draws from the pyramid.
#include <algorithm>

#include "trace/explore/paint/ribbon_painter.h"
#include "trace/explore/paint/row_painter.h"
#include "trace/model/activity.h"
#include "trace/timeline/pieces/join_pieces.h"

namespace shardlens::trace {

namespace {

LodKind lod_kind_of(RowKind kind) {
  switch (kind) {
    case RowKind::kPhases:
      return LodKind::kSpan;
    case RowKind::kOperators:
      return LodKind::kOperator;
    case RowKind::kLaunches:
      return LodKind::kLaunch;
    case RowKind::kCommunication:
      return LodKind::kCollective;
    case RowKind::kCopies:
      return LodKind::kCopy;
    default:
      return LodKind::kKernel;
  }
}

TimeClass class_of_row(RowKind kind) {
  switch (kind) {
    case RowKind::kPhases:
      return TimeClass::kOtherPhase;
    case RowKind::kOperators:
    case RowKind::kLaunches:
      return TimeClass::kHost;
    case RowKind::kCommunication:
      return TimeClass::kExposed;
    case RowKind::kCopies:
      return TimeClass::kCopy;
    default:
      return TimeClass::kCompute;
  }
}

bool is_communication(const RankSnapshot& rank, const TimelineRow& row) {
  if (row.kind == RowKind::kCommunication) return true;
  const Lane* const lane = rank.rows->lane(row.lane);
  return row.kind == RowKind::kKernels && lane != nullptr && lane->kind == LaneKind::kCommunication;
}

}  // namespace

Result<void> RowPainter::class_by_ribbon(const RowTask& task, RowPicture& picture) const {
  const int level = lod_level_of(task.ns_per_pixel);
  const PixelGrid grid = grid_of_cells(lod_cell_ns(level), task.ns_per_pixel);
  TRY_ASSIGN(const auto classes, task.rank->source->read_classes(level, grid.around(task.window)));
  picture.is_complete = picture.is_complete && classes.is_complete;
  const auto columns = ribbon_columns(std::span<const ClassCell>(classes.cells), grid);
  for (Piece& piece : picture.pieces) {
    float overlapped = 0, exposed = 0;
    for (auto column = std::ranges::upper_bound(columns, piece.start_ns, {}, &RibbonColumn::end_ns);
         column != columns.end() && column->start_ns < piece.end_ns; ++column) {
      overlapped += column->share[index_of(TimeClass::kOverlapped)];
      exposed += column->share[index_of(TimeClass::kExposed)];
    }
    piece.piece_class = overlapped > exposed ? TimeClass::kOverlapped : TimeClass::kExposed;
  }
  return {};
}

Result<RowDraft> RowPainter::paint_cells(const RowTask& task) const {
  const RowKind kind = task.row->kind;
  const int level = lod_level_of(task.ns_per_pixel);
  const PixelGrid grid = grid_of_cells(lod_cell_ns(level), task.ns_per_pixel);
  RowDraft draft;
  RowPicture& picture = draft.picture;
  // Events would be drawn if they had been read.
  picture.is_complete = !needs_events(task.ns_per_pixel);
  for (const LodStream& stream : task.rank->streams) {
    if (stream.lane != task.row->lane || stream.kind != lod_kind_of(kind)) continue;
    TRY_ASSIGN(const auto read,
               task.rank->source->read_cells(stream, level, grid.around(task.window)));
    picture.is_complete = picture.is_complete && read.is_complete;
    const auto pieces = pieces_from_cells(read.cells, grid, stream.depth, class_of_row(kind));
    picture.pieces.insert(picture.pieces.end(), pieces.begin(), pieces.end());
  }
  if (is_communication(*task.rank, *task.row)) {
    TRY(class_by_ribbon(task, picture));
  } else if (kind == RowKind::kKernels) {
    for (Piece& piece : picture.pieces) {
      const Interval time{piece.start_ns, piece.end_ns};
      if (length_within(task.rank->rows->optimizer, time) * 2 < time.length()) continue;
      piece.piece_class = TimeClass::kOptimizer;
    }
  } else if (kind == RowKind::kPhases) {
    for (Piece& piece : picture.pieces) {
      piece.piece_class = phase_class_of_name(run_.store->text(task.rank->rank, piece.name));
    }
  }
  join_pieces(picture.pieces, grid);
  for (Piece& piece : picture.pieces) {
    piece.name = run_.store->global_name(task.rank->rank, piece.name);
  }
  return draft;
}

}  // namespace shardlens::trace
