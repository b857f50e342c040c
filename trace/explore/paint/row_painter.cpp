#include "trace/explore/paint/row_painter.h"

#include <algorithm>

#include "trace/explore/paint/drawn_collectives.h"
#include "trace/explore/paint/ribbon_painter.h"
#include "trace/explore/run/lane_events.h"
#include "trace/model/activity.h"
#include "trace/timeline/pieces/area_points.h"
#include "trace/timeline/pieces/collective_parts.h"
#include "trace/timeline/pieces/join_pieces.h"
#include "trace/timeline/pieces/piece_folder.h"

namespace shardlens::trace {

namespace {

// Of events in order of start.
class OptimizerTime {
 public:
  explicit OptimizerTime(const Intervals& phases) : phases_(phases) {}
  bool holds(std::int64_t time_ns) {
    while (next_ < phases_.size() && phases_[next_].end_ns <= time_ns) ++next_;
    return next_ < phases_.size() && phases_[next_].start_ns <= time_ns;
  }

 private:
  const Intervals& phases_;
  std::size_t next_ = 0;
};

void finish_pieces(RowDraft& draft, PieceFolder& folder, PixelGrid grid) {
  draft.picture.is_exact = true;
  draft.picture.pieces = folder.finish();
  join_pieces(draft.picture.pieces, grid);
}

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

EventKind event_kind_of(RowKind kind) {
  switch (kind) {
    case RowKind::kOperators:
      return EventKind::kOperator;
    case RowKind::kLaunches:
      return EventKind::kLaunch;
    case RowKind::kCopies:
      return EventKind::kCopy;
    default:
      return EventKind::kKernel;
  }
}

RowDraft RowPainter::paint(const RowTask& task, const WindowActivity* activity) const {
  switch (task.row->kind) {
    case RowKind::kReady:
      return ready_row(task);
    case RowKind::kMemory:
    case RowKind::kCounter:
    case RowKind::kGpu:
      return sample_row(task);
    case RowKind::kPhases:
      return span_row(task);
    case RowKind::kCommunication:
      return collective_row(task, activity);
    default:
      break;
  }
  if (!run_.needs_events(task.ns_per_pixel)) return paint_cells(task);
  return bulk_row(task, event_kind_of(task.row->kind), activity);
}

RowDraft RowPainter::bulk_row(const RowTask& task, EventKind kind,
                              const WindowActivity* activity) const {
  const PixelGrid grid(task.ns_per_pixel);
  PieceFolder folder(grid, task.window, task.row->levels);
  const LaneEvents events(*run_.store, task.rank->rank, task.row->lane, kind, folder.window());
  const std::vector<std::uint32_t> names = run_.store->global_names(task.rank->rank);
  OptimizerTime optimizer(task.rank->rows->optimizer);
  DrawnEvent event;
  event.piece_class = kind == EventKind::kCopy ? TimeClass::kCopy : TimeClass::kHost;
  event.ref = {table_of(kind), task.rank->rank, 0, 0};
  events.visit(
      [&](const ChunkEntry& chunk, const EventColumns& columns, std::size_t i, Interval time) {
        event.time = time;
        const StringId name = columns.name(i);
        event.name = name < names.size() ? names[name] : 0;
        event.ref.row = chunk.row_id;
        event.ref.index = static_cast<std::uint32_t>(i);
        if (kind == EventKind::kOperator) event.level = columns.depth(i);
        if (kind == EventKind::kKernel) {
          if (activity != nullptr) {
            event.piece_class = communication_class(time, activity->compute);
          } else {
            event.piece_class =
                optimizer.holds(time.start_ns) ? TimeClass::kOptimizer : TimeClass::kCompute;
          }
        }
        folder.add(event);
      });
  RowDraft draft;
  draft.picture.is_complete = events.is_complete() && task.rank->has_all_rows;
  finish_pieces(draft, folder, grid);
  if (activity != nullptr && kind == EventKind::kKernel) {
    draft.picture.pieces = split_by_exposure(draft.picture.pieces, activity->compute, grid);
  }
  return draft;
}

RowDraft RowPainter::span_row(const RowTask& task) const {
  const PixelGrid grid(task.ns_per_pixel);
  PieceFolder folder(grid, task.window, task.row->levels);
  const auto& spans = task.rank->rows->spans;
  visit_rows(spans, folder.window(), [&](std::uint32_t i, Interval time) {
    const Span& span = spans.rows[i];
    if (span.lane != task.row->lane) return;
    DrawnEvent event;
    event.time = time;
    event.name = spans.labels[i];
    event.level = span.depth;
    event.piece_class = phase_class(span.phase);
    event.ref = {EventTableKind::kSpan, task.rank->rank, spans.ids[i], 0};
    folder.add(event);
  });
  RowDraft draft;
  draft.names_are_labels = true;
  draft.picture.is_complete = task.rank->has_all_rows;
  finish_pieces(draft, folder, grid);
  return draft;
}

RowDraft RowPainter::collective_row(const RowTask& task, const WindowActivity* activity) const {
  const PixelGrid grid(task.ns_per_pixel);
  PieceFolder folder(grid, task.window, 1);
  const auto& collectives = task.rank->rows->collectives;
  const auto* const exposure = task.rank->exposure.get();
  DrawnCollectives drawn(run_, *task.rank, activity);
  visit_rows(collectives, folder.window(), [&](std::uint32_t i, Interval time) {
    const Collective& row = collectives.rows[i];
    if (row.lane != task.row->lane) return;
    DrawnEvent event;
    event.time = time;
    event.name = collectives.labels[i];
    event.piece_class = activity != nullptr   ? communication_class(time, activity->compute)
                        : exposure != nullptr ? (*exposure)[i]
                                              : TimeClass::kExposed;
    event.ref = {EventTableKind::kCollective, task.rank->rank, collectives.ids[i], 0};
    // Only one that is longer than a pixel has room to show its waiting and transfer.
    if (time.length() >= grid.column_ns()) drawn.add(i, event);
    folder.add(event);
  });
  RowDraft draft;
  draft.names_are_labels = true;
  draft.picture.collectives = drawn.take();
  draft.picture.is_complete = task.rank->has_all_rows && run_.calls != nullptr;
  if (activity == nullptr) {
    draft.picture.pieces = folder.finish();
    if (exposure == nullptr) class_by_ribbon(task, draft.picture);
    join_pieces(draft.picture.pieces, grid);
  } else {
    draft.picture.is_complete = draft.picture.is_complete && activity->is_complete;
    finish_pieces(draft, folder, grid);
    const PixelGrid parts(std::max(task.ns_per_pixel, task.ns_per_part));
    draft.picture.pieces = split_by_exposure(draft.picture.pieces, activity->compute, parts);
  }
  return draft;
}

RowDraft RowPainter::ready_row(const RowTask& task) const {
  const PixelGrid grid(task.ns_per_pixel);
  const RankRows& rows = *task.rank->rows;
  const TagKind kind = task.row->label.starts_with("Units") ? TagKind::kUnit : TagKind::kBucket;
  PieceFolder folder(grid, task.window, 1);
  DrawnCollectives drawn(run_, *task.rank, nullptr);
  visit_rows(rows.collectives, folder.window(), [&](std::uint32_t i, Interval time) {
    if (rows.collectives.rows[i].tag_kind != kind || time.length() < grid.column_ns()) return;
    DrawnEvent event;
    event.time = time;
    event.name = rows.collectives.labels[i];
    event.ref = {EventTableKind::kCollective, task.rank->rank, rows.collectives.ids[i], 0};
    drawn.add(i, event);
    folder.add(event);
  });
  RowDraft draft;
  draft.names_are_labels = true;
  RowPicture& picture = draft.picture;
  picture.is_exact = true;
  picture.is_complete = task.rank->has_all_rows;
  picture.pieces = folder.finish();
  picture.collectives = drawn.take();
  picture.ready =
      ready_points(kind == TagKind::kUnit ? rows.unit_ready : rows.bucket_ready, task.window, grid);
  return draft;
}

RowDraft RowPainter::sample_row(const RowTask& task) const {
  const PixelGrid grid(task.ns_per_pixel);
  const RankRows& rows = *task.rank->rows;
  RowDraft draft;
  draft.names_are_labels = true;
  RowPicture& picture = draft.picture;
  picture.is_exact = true;
  picture.is_complete = task.rank->has_all_rows;
  if (task.row->kind == RowKind::kMemory) {
    picture.area = area_points(rows.memory, task.window, grid);
    picture.area_highest = rows.highest_memory;
  } else {
    const auto series = std::ranges::find(rows.counters, task.row->label, &CounterSeries::name);
    if (series == rows.counters.end()) return draft;
    picture.area = area_points(series->samples, task.window, grid);
    picture.area_highest = series->highest;
    picture.area_base = series->scale.base;
    picture.area_top = series->scale.top;
  }
  return draft;
}

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
