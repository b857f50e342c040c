#include "ui/inspect/draw/timeline_tooltip.h"

#include <algorithm>
#include <string>

#include "trace/timeline/words/kernel_title.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/present/timeline_colors.h"
#include "ui/present/timeline_time_text.h"

namespace shardlens::ui {

namespace {

std::string share_text(double share) { return format_percent(share).text(); }

void describe_start(const TimelineScene& scene, const TooltipScope& tip, int rank,
                    std::int64_t time_ns) {
  const trace::StepBorder* step =
      scene.borders.at(rank < 0 ? scene.borders.reference_rank() : rank, time_ns);
  if (step == nullptr) {
    tip.row(nullptr, "Since the start", exact_text(time_ns - scene.rows.start_ns, 1'000));
    return;
  }
  tip.row(nullptr, "In step " + format_integer(step->step),
          exact_text(time_ns - step->start_ns, time_ns - step->start_ns < 1'000'000 ? 1 : 1'000));
}

void describe_event(const TimelineScene& scene, const TooltipScope& tip, const RowItem& item) {
  const trace::Piece& piece = *item.piece;
  const trace::TimelineRow& row = scene.row(item.row);
  const Rgb swatch = time_color(scene.look().colors(), piece.piece_class);
  const bool ribbon = row.kind == trace::RowKind::kRibbon;
  const std::string title = trace::event_title(row.kind, item.name);
  tip.title(title.empty() || ribbon ? std::string(class_name(piece.piece_class)) : title);
  tip.row(&swatch, "Duration", length_text(piece.duration_ns()));
  if (piece.latest_start_ns > piece.start_ns) {
    const std::int64_t until = std::min(piece.latest_start_ns, piece.end_ns);
    tip.row(nullptr, "waiting for the last rank", length_text(until - piece.start_ns));
    tip.row(nullptr, "transfer", length_text(piece.end_ns - until));
  }
  describe_start(scene, tip, row.rank, piece.start_ns);
  if (!ribbon) tip.row(nullptr, "Class", class_name(piece.piece_class));
}

void describe_fold(const TimelineScene& scene, const TooltipScope& tip, const RowItem& item) {
  const trace::Piece& piece = *item.piece;
  const Rgb swatch = time_color(scene.look().colors(), piece.piece_class);
  tip.title(format_integer(piece.count) + (piece.count == 1 ? " event" : " events"));
  tip.row(&swatch, "Busy", share_text(static_cast<double>(piece.busy)));
  tip.row(nullptr, "Busiest part", share_text(static_cast<double>(piece.busiest)));
  tip.row(nullptr, "In", length_text(piece.duration_ns()));
  if (piece.longest_ns > 0) tip.row(nullptr, "Longest", length_text(piece.longest_ns));
  const trace::TimelineRow& row = scene.row(item.row);
  if (!item.name.empty()) tip.note(trace::event_title(row.kind, item.name));
  describe_start(scene, tip, row.rank, piece.start_ns);
  tip.note("Too short to be told apart: zoom in, or double-click");
}

void describe_column(const TimelineScene& scene, const TooltipScope& tip, const RowItem& item) {
  const Palette& p = scene.look().colors();
  const trace::RibbonColumn& column = *item.column;
  const int rank = scene.row(item.row).rank;
  tip.title(rank < 0 ? "Mean over all ranks" : "Rank " + std::to_string(rank));
  for (int i = 0; i < trace::kPartitionClasses; ++i) {
    const float share = column.share[static_cast<std::size_t>(i)];
    if (share < 0.0005f) continue;
    const auto piece_class = static_cast<trace::TimeClass>(i);
    const Rgb swatch = time_color(p, piece_class);
    tip.row(&swatch, class_name(piece_class), share_text(static_cast<double>(share)));
  }
  describe_start(scene, tip, rank, column.start_ns);
  tip.note("of " + length_text(column.end_ns - column.start_ns));
}

}  // namespace

void draw_timeline_tooltip(const TimelineScene& scene, const RowItem& item) {
  const TooltipScope tip(scene.look());
  const trace::TimelineRow& row = scene.row(item.row);
  const std::string rank = row.rank < 0 ? "" : "rank " + std::to_string(row.rank);
  if (item.piece) {
    const bool event = item.piece->ref.exists() || row.kind == trace::RowKind::kRibbon;
    event ? describe_event(scene, tip, item) : describe_fold(scene, tip, item);
  } else if (item.column) {
    return describe_column(scene, tip, item);
  } else if (item.point) {
    tip.title(row.label);
    tip.row(nullptr, "Value", area_value_text(item.point->value, row.unit));
    if (item.point->highest > item.point->value) {
      tip.row(nullptr, "Highest here", area_value_text(item.point->highest, row.unit));
    }
    describe_start(scene, tip, row.rank, item.point->time_ns);
  } else if (item.ready) {
    tip.title("Gradients of " + item.name + " are ready");
    if (item.ready->bytes > 0) {
      tip.row(nullptr, "Size", format_bytes(static_cast<double>(item.ready->bytes)).text());
    }
    describe_start(scene, tip, row.rank, item.ready->time_ns);
  }
  tip.note(row.label.empty() ? rank : rank + " · " + row.label);
}

}  // namespace shardlens::ui
