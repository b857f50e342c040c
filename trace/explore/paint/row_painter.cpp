#include "trace/explore/paint/row_painter.h"

#include <algorithm>
#include <utility>

#include "trace/explore/paint/drawn_collectives.h"
#include "trace/explore/run/lane_events.h"
#include "trace/model/activity.h"
#include "trace/timeline/pieces/area_points.h"
#include "trace/timeline/pieces/collective_parts.h"
#include "trace/timeline/pieces/piece_folder.h"

namespace shardlens::trace::explore {

namespace {

// Of events in order of start.
class OptimizerTime {
 public:
  explicit OptimizerTime(const base::Intervals& phases) : phases_(phases) {}
  bool holds(std::int64_t time_ns) {
    while (next_ < phases_.size() && phases_[next_].end_ns <= time_ns) ++next_;
    return next_ < phases_.size() && phases_[next_].start_ns <= time_ns;
  }

 private:
  const base::Intervals& phases_;
  std::size_t next_ = 0;
};

void finish_pieces(RowDraft& draft, timeline::PieceFolder& folder, timeline::PixelGrid grid) {
  draft.picture.is_exact = true;
  draft.picture.pieces = folder.finish();
  timeline::join_pieces(draft.picture.pieces, grid);
}

base::TimeClass class_of_row(timeline::RowKind kind) {
  switch (kind) {
    case timeline::RowKind::kOperators:
    case timeline::RowKind::kLaunches:
      return base::TimeClass::kHost;
    case timeline::RowKind::kCopies:
      return base::TimeClass::kCopy;
    default:
      return base::TimeClass::kCompute;
  }
}

model::EventKind event_kind_of(timeline::RowKind kind) {
  const auto shown = std::ranges::find(timeline::kShownKinds, kind, &timeline::ShownKind::row);
  return shown == timeline::kShownKinds.end() ? model::EventKind::kKernel : shown->kind;
}

// The longest cells that are at most a pixel.
int cell_bits_of(double ns_per_pixel) {
  int bits = kFinestCellBits;
  while (bits < kLongestCellBits && static_cast<double>(cell_length_ns(bits + 1)) <= ns_per_pixel) {
    ++bits;
  }
  return bits;
}

// Communication overlapped or exposed, by what the rank's ribbon has more of there.
void class_by_ribbon(const RowTask& task, timeline::RowPicture& picture) {
  const int bits = cell_bits_of(task.ns_per_pixel);
  const timeline::PixelGrid grid = timeline::grid_of_cells(cell_length_ns(bits), task.ns_per_pixel);
  picture.is_complete = picture.is_complete && task.rank->overview->is_complete(bits, task.window);
  const auto columns =
      timeline::ribbon_columns(task.rank->overview->classes(bits, grid.around(task.window)), grid);
  for (timeline::Piece& piece : picture.pieces) {
    float overlapped = 0, exposed = 0;
    for (auto column =
             std::ranges::upper_bound(columns, piece.start_ns, {}, &timeline::RibbonColumn::end_ns);
         column != columns.end() && column->start_ns < piece.end_ns; ++column) {
      overlapped += column->share[base::index_of(base::TimeClass::kOverlapped)];
      exposed += column->share[base::index_of(base::TimeClass::kExposed)];
    }
    piece.piece_class =
        overlapped > exposed ? base::TimeClass::kOverlapped : base::TimeClass::kExposed;
  }
}

RowDraft paint_cells(const RunSnapshot& run, const RowTask& task) {
  const timeline::RowKind kind = task.row->kind;
  const int bits = cell_bits_of(task.ns_per_pixel);
  const timeline::PixelGrid grid = timeline::grid_of_cells(cell_length_ns(bits), task.ns_per_pixel);
  RowDraft draft;
  timeline::RowPicture& picture = draft.picture;
  const RankOverview& overview = *task.rank->overview;
  picture.is_complete = overview.is_complete(bits, task.window);
  for (const OverviewLane& lane : overview.lanes(task.row->lane, event_kind_of(kind))) {
    const auto cells = overview.cells(lane, bits, grid.around(task.window));
    const auto pieces = timeline::pieces_from_cells(cells, grid, lane.depth, class_of_row(kind));
    picture.pieces.insert(picture.pieces.end(), pieces.begin(), pieces.end());
  }
  if (is_communication(*task.rank, *task.row)) {
    class_by_ribbon(task, picture);
  } else if (kind == timeline::RowKind::kKernels) {
    for (timeline::Piece& piece : picture.pieces) {
      const base::Interval time{piece.start_ns, piece.end_ns};
      if (base::length_within(task.rank->rows->optimizer, time) * 2 < time.length()) continue;
      piece.piece_class = base::TimeClass::kOptimizer;
    }
  }
  timeline::join_pieces(picture.pieces, grid);
  for (timeline::Piece& piece : picture.pieces) {
    piece.name = run.store->names().number(task.rank->rank, piece.name);
  }
  return draft;
}

RowDraft bulk_row(const RunSnapshot& run, const RowTask& task, model::EventKind kind,
                  const WindowActivity* activity) {
  const timeline::PixelGrid grid(task.ns_per_pixel);
  timeline::PieceFolder folder(grid, task.window, task.row->levels);
  const LaneEvents events(*run.store, task.rank->rank, task.row->lane, kind, folder.window());
  const std::vector<std::uint32_t> names = run.store->names().numbers(task.rank->rank);
  OptimizerTime optimizer(task.rank->rows->optimizer);
  timeline::DrawnEvent event;
  event.piece_class =
      kind == model::EventKind::kCopy ? base::TimeClass::kCopy : base::TimeClass::kHost;
  event.ref = {table_of(kind), task.rank->rank, 0, 0};
  events.visit([&](const store::ChunkEntry& chunk, const store::EventColumns& columns,
                   std::size_t i, base::Interval time) {
    event.time = time;
    const model::StringId name = columns.name(i);
    event.name = name < names.size() ? names[name] : 0;
    event.ref.row = chunk.row_id;
    event.ref.index = static_cast<std::uint32_t>(i);
    if (kind == model::EventKind::kOperator) event.level = columns.depth(i);
    if (kind == model::EventKind::kKernel) {
      if (activity != nullptr) {
        event.piece_class = timeline::communication_class(time, activity->compute);
      } else {
        event.piece_class = optimizer.holds(time.start_ns) ? base::TimeClass::kOptimizer
                                                           : base::TimeClass::kCompute;
      }
    }
    folder.add(event);
  });
  RowDraft draft;
  draft.picture.is_complete = events.is_complete() && task.rank->has_all_rows;
  finish_pieces(draft, folder, grid);
  if (activity != nullptr && kind == model::EventKind::kKernel) {
    draft.picture.pieces =
        timeline::split_by_exposure(draft.picture.pieces, activity->compute, grid);
  }
  return draft;
}

RowDraft span_row(const RowTask& task) {
  const timeline::PixelGrid grid(task.ns_per_pixel);
  timeline::PieceFolder folder(grid, task.window, task.row->levels);
  const auto& spans = task.rank->rows->spans;
  visit_rows(spans, folder.window(), [&](std::uint32_t i, base::Interval time) {
    const model::Span& span = spans.rows[i];
    if (span.lane != task.row->lane) return;
    timeline::DrawnEvent event;
    event.time = time;
    event.name = spans.labels[i];
    event.level = span.depth;
    event.piece_class = model::phase_class(span.phase);
    event.ref = {timeline::EventTableKind::kSpan, task.rank->rank, spans.ids[i], 0};
    folder.add(event);
  });
  RowDraft draft;
  draft.names_are_labels = true;
  draft.picture.is_complete = task.rank->has_all_rows;
  finish_pieces(draft, folder, grid);
  return draft;
}

RowDraft collective_row(const RunSnapshot& run, const RowTask& task,
                        const WindowActivity* activity) {
  const timeline::PixelGrid grid(task.ns_per_pixel);
  timeline::PieceFolder folder(grid, task.window, 1);
  const auto& collectives = task.rank->rows->collectives;
  const auto* const exposure = task.rank->exposure.get();
  DrawnCollectives drawn(run, *task.rank, activity);
  visit_rows(collectives, folder.window(), [&](std::uint32_t i, base::Interval time) {
    const model::Collective& row = collectives.rows[i];
    if (row.lane != task.row->lane) return;
    timeline::DrawnEvent event;
    event.time = time;
    event.name = collectives.labels[i];
    event.piece_class = activity != nullptr ? timeline::communication_class(time, activity->compute)
                        : exposure != nullptr ? (*exposure)[i]
                                              : base::TimeClass::kExposed;
    event.ref = {timeline::EventTableKind::kCollective, task.rank->rank, collectives.ids[i], 0};
    // Only one that is longer than a pixel has room to show its waiting and transfer.
    if (time.length() >= grid.column_ns()) drawn.add(i, event);
    folder.add(event);
  });
  RowDraft draft;
  draft.names_are_labels = true;
  draft.picture.collectives = drawn.take();
  draft.picture.is_complete = task.rank->has_all_rows && run.calls != nullptr;
  if (activity == nullptr) {
    draft.picture.pieces = folder.finish();
    if (exposure == nullptr) class_by_ribbon(task, draft.picture);
    timeline::join_pieces(draft.picture.pieces, grid);
  } else {
    draft.picture.is_complete = draft.picture.is_complete && activity->is_complete;
    finish_pieces(draft, folder, grid);
    const timeline::PixelGrid parts(std::max(task.ns_per_pixel, task.ns_per_part));
    draft.picture.pieces =
        timeline::split_by_exposure(draft.picture.pieces, activity->compute, parts);
  }
  return draft;
}

RowDraft ready_row(const RunSnapshot& run, const RowTask& task) {
  const timeline::PixelGrid grid(task.ns_per_pixel);
  const RankRows& rows = *task.rank->rows;
  const model::TagKind kind =
      task.row->label.starts_with("Units") ? model::TagKind::kUnit : model::TagKind::kBucket;
  timeline::PieceFolder folder(grid, task.window, 1);
  DrawnCollectives drawn(run, *task.rank, nullptr);
  visit_rows(rows.collectives, folder.window(), [&](std::uint32_t i, base::Interval time) {
    if (rows.collectives.rows[i].tag_kind != kind || time.length() < grid.column_ns()) return;
    timeline::DrawnEvent event;
    event.time = time;
    event.name = rows.collectives.labels[i];
    event.ref = {timeline::EventTableKind::kCollective, task.rank->rank, rows.collectives.ids[i],
                 0};
    drawn.add(i, event);
    folder.add(event);
  });
  RowDraft draft;
  draft.names_are_labels = true;
  timeline::RowPicture& picture = draft.picture;
  picture.is_exact = true;
  picture.is_complete = task.rank->has_all_rows;
  picture.pieces = folder.finish();
  picture.collectives = drawn.take();
  picture.ready = timeline::ready_points(
      kind == model::TagKind::kUnit ? rows.unit_ready : rows.bucket_ready, task.window, grid);
  return draft;
}

RowDraft sample_row(const RowTask& task) {
  const timeline::PixelGrid grid(task.ns_per_pixel);
  const RankRows& rows = *task.rank->rows;
  RowDraft draft;
  draft.names_are_labels = true;
  timeline::RowPicture& picture = draft.picture;
  picture.is_exact = true;
  picture.is_complete = task.rank->has_all_rows;
  if (task.row->kind == timeline::RowKind::kMemory) {
    picture.area = timeline::area_points(rows.memory, task.window, grid);
    picture.area_highest = rows.highest_memory;
  } else {
    const auto series = std::ranges::find(rows.counters, task.row->label, &CounterSeries::name);
    if (series == rows.counters.end()) return draft;
    picture.area = timeline::area_points(series->samples, task.window, grid);
    picture.area_highest = series->highest;
    picture.area_base = series->scale.base;
    picture.area_top = series->scale.top;
  }
  return draft;
}

// As far as the rank recorded.
timeline::RowPicture recorded_ribbon(const WindowActivity& activity, const RankSnapshot& rank,
                                     timeline::PixelGrid grid) {
  const base::Interval held{std::max(activity.window.start_ns, rank.extent.start_ns),
                            std::min(activity.window.end_ns, rank.extent.end_ns)};
  if (held.length() <= 0) return {};
  return timeline::exact_ribbon(
      {activity.compute, activity.communication, activity.copies, rank.rows->optimizer}, held,
      activity.recorded(rank), grid);
}

}  // namespace

bool is_communication(const RankSnapshot& rank, const timeline::TimelineRow& row) {
  const model::Lane* const lane = rank.rows->lane(row.lane);
  return row.kind == timeline::RowKind::kKernels && lane != nullptr &&
         lane->kind == model::LaneKind::kCommunication;
}

RowDraft paint_row(const RunSnapshot& run, const RowTask& task, const WindowActivity* activity) {
  switch (task.row->kind) {
    case timeline::RowKind::kReady:
      return ready_row(run, task);
    case timeline::RowKind::kMemory:
    case timeline::RowKind::kCounter:
    case timeline::RowKind::kGpu:
      return sample_row(task);
    case timeline::RowKind::kPhases:
      return span_row(task);
    case timeline::RowKind::kCommunication:
      return collective_row(run, task, activity);
    default:
      break;
  }
  if (!run.needs_events(task.ns_per_pixel)) return paint_cells(run, task);
  return bulk_row(run, task, event_kind_of(task.row->kind), activity);
}

timeline::RowPicture rank_ribbon(const RankSnapshot& rank, base::Interval window,
                                 double ns_per_pixel, const WindowActivity* activity) {
  timeline::RowPicture ribbon;
  if (activity != nullptr) {
    ribbon = recorded_ribbon(*activity, rank, timeline::PixelGrid(ns_per_pixel));
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

}  // namespace shardlens::trace::explore
