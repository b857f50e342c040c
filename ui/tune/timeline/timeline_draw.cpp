#include "ui/tune/timeline/timeline_draw.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ui/kit/widgets.h"
#include "ui/present/axis.h"
#include "ui/present/format.h"
#include "ui/tune/timeline/timeline_buckets.h"

namespace shardlens::ui {

namespace {

using trace::Bar;
using trace::RankTimeline;
using trace::TimeClass;

float px(const TimelineCanvas& c, float length) { return c.theme.px(length); }

// Solid bars get a gap of one pixel where there is room for it.
Rect bar_rect(const PixelBar& bar, float y, float height) {
  const float x0 = std::floor(bar.x0), x1 = std::max(std::floor(bar.x1), x0 + 1);
  const float gap = x1 - x0 >= 3 ? 1.0f : 0.0f;
  return {x0, y, x1 - x0 - gap, height};
}

bool near_mouse(const TimelineCanvas& c, const Rect& r) {
  return c.mouse_inside && r.inset(-1, 0).contains(c.mouse_x, c.mouse_y) &&
         c.plot.contains(c.mouse_x, c.mouse_y);
}

TimelineItem bar_item(const RankTimeline& rank, const Bar& bar) {
  TimelineItem item;
  item.rank = rank.rank;
  item.bar = bar;
  item.start_ns = static_cast<double>(bar.start_ns);
  item.end_ns = static_cast<double>(bar.end_ns);
  return item;
}

void draw_phase(const TimelineCanvas& c, const Rect& r, const Bar& bar) {
  const Palette& p = c.theme.colors();
  const bool optimizer = bar.bar_class == TimeClass::kOptimizerPhase;
  const bool quiet = bar.bar_class == TimeClass::kData || bar.bar_class == TimeClass::kOtherPhase;
  fill(r, color(time_color(p, bar.bar_class)), 2);
  const Rgb edge = optimizer ? p.phase_optimizer_edge : quiet ? p.idle_edge : p.phase_edge;
  fill({r.x, r.y, r.w, std::max(1.0f, px(c, 1.5f))}, color(edge));
  const Rgb ink = quiet ? text_on(p.idle) : p.phase_text;
  Rect inner = r.inset(px(c, 6), 0);
  inner.take_top(1);
  label_in(c.theme, inner, Face::kSmall, ink, bar.label);
}

std::optional<TimelineItem> draw_phases(const TimelineCanvas& c, float y,
                                        const RankTimeline& rank) {
  std::optional<TimelineItem> hovered;
  for (const PixelBar& bar : pixel_bars(rank.phases, c.view, c.plot.x, c.plot.w)) {
    if (rank.phases[bar.index].depth > 0) continue;
    const Rect r = bar_rect(bar, y, px(c, c.heights.phases));
    draw_phase(c, r, rank.phases[bar.index]);
    if (near_mouse(c, r)) hovered = bar_item(rank, rank.phases[bar.index]);
  }
  return hovered;
}

std::optional<TimelineItem> draw_compute(const TimelineCanvas& c, float y,
                                         const RankTimeline& rank) {
  const Palette& p = c.theme.colors();
  std::optional<TimelineItem> hovered;
  for (const PixelBar& bar : pixel_bars(rank.compute, c.view, c.plot.x, c.plot.w)) {
    const Rect r = bar_rect(bar, y, px(c, c.heights.compute));
    const Rgb fill_color = time_color(p, bar.bar_class);
    fill(r, color(fill_color), r.w >= px(c, 16) ? 1.0f : 0.0f);
    // Where one operator begins right behind another, the gap alone is easily lost.
    if (r.w >= px(c, 10)) fill({r.x, r.y, 1, r.h}, color(mix(fill_color, p.text, 0.35)));
    if (bar.count == 1 && r.w > px(c, 40)) {
      label_in(c.theme, r.inset(px(c, 5), 0), Face::kSmall, text_on(fill_color),
               rank.compute[bar.index].label);
    }
    if (near_mouse(c, r)) {
      hovered = bar_item(rank, rank.compute[bar.index]);
      if (bar.count > 1) {
        hovered->bar.label = std::to_string(bar.count) + " operators; zoom in to tell them apart";
        hovered->end_ns = c.view.time_from_x(bar.x1, c.plot.x, c.plot.w);
      }
    }
  }
  return hovered;
}

void draw_ribbon_label(const TimelineCanvas& c, const Rect& r, const Bar& bar) {
  if (bar.label.empty() || r.h < px(c, 11)) return;
  label_in(c.theme, r.inset(px(c, 5), 0), Face::kSmall,
           text_on(time_color(c.theme.colors(), bar.bar_class)), bar.label);
}

std::optional<TimelineItem> draw_ribbon(const TimelineCanvas& c, float y,
                                        const RankTimeline& rank) {
  const Palette& p = c.theme.colors();
  std::optional<TimelineItem> hovered;
  for (const PixelBar& bar : pixel_bars(rank.ribbon, c.view, c.plot.x, c.plot.w)) {
    const Rect r = bar_rect(bar, y, px(c, c.heights.ribbon));
    fill(r, color(time_color(p, bar.bar_class)));
    draw_ribbon_label(c, r, rank.ribbon[bar.index]);
    if (near_mouse(c, r)) hovered = bar_item(rank, rank.ribbon[bar.index]);
  }
  return hovered;
}

void row_label(const TimelineCanvas& c, float y, float height, std::string_view name) {
  const Rect box{c.labels.x + px(c, 62), y, c.labels.w - px(c, 70), px(c, height)};
  label_in(c.theme, box, Face::kSmall, c.theme.colors().text_muted, name, Align::kRight);
}

void label_lanes(const TimelineCanvas& c, float y, const RankTimeline& rank) {
  if (rank.lanes.size() <= 1) return row_label(c, y, c.heights.communication, "Communication");
  for (const trace::CommunicationLane& lane : rank.lanes) {
    row_label(c, y, c.heights.communication, lane.name);
    y += px(c, c.heights.communication) + px(c, c.heights.lane_gap);
  }
}

void draw_labels(const TimelineCanvas& c, const RankRows& rows, float top,
                 const RankTimeline& rank) {
  const Palette& p = c.theme.colors();
  const float row = rows.unfolded ? px(c, c.heights.phases) : rows.height;
  const float y = top + rows.y;
  const bool inside =
      c.mouse_inside && Rect{c.labels.x, y, c.labels.w, row}.contains(c.mouse_x, c.mouse_y);
  const Rgb ink = inside ? p.accent_text : p.text;
  shape(rows.unfolded ? Shape::kDown : Shape::kRight, c.labels.x + px(c, 4), y + row / 2, px(c, 7),
        color(inside ? p.accent_text : p.text_muted));
  // Beside it, at the right, the first row's name.
  const float taken = px(c, rows.unfolded ? 14 + 54 : 14);
  text_in(c.theme, {c.labels.x + px(c, 14), y, c.labels.w - taken, row}, Face::kStrong, ink,
          "Rank " + std::to_string(rank.rank));
  if (!rows.unfolded) return;
  label_in(c.theme,
           {c.labels.x + px(c, 14), top + rows.compute, px(c, 48), px(c, c.heights.compute)},
           Face::kSmall, p.text_muted, rank.device);
  row_label(c, top + rows.phases, c.heights.phases, "Phases");
  row_label(c, top + rows.compute, c.heights.compute, "Compute");
  label_lanes(c, top + rows.communication, rank);
  row_label(c, top + rows.buckets, c.heights.buckets, bucket_row_name(c, rank));
  row_label(c, top + rows.ribbon, c.heights.ribbon, "Ribbon");
}

}  // namespace

std::optional<TimelineItem> draw_rank(const TimelineCanvas& c, const RankRows& rows, float top,
                                      const RankTimeline& rank) {
  draw_labels(c, rows, top, rank);
  const Clip clip(c.plot);
  std::optional<TimelineItem> hovered;
  const auto keep = [&hovered](std::optional<TimelineItem> item) {
    if (item) hovered = std::move(item);
  };
  if (rows.unfolded) {
    keep(draw_phases(c, top + rows.phases, rank));
    keep(draw_compute(c, top + rows.compute, rank));
    keep(draw_communication(c, top + rows.communication, rank));
    keep(draw_buckets(c, top + rows.buckets, rank));
  }
  keep(draw_ribbon(c, top + rows.ribbon, rank));
  return hovered;
}

void draw_time_axis(const TimelineCanvas& c, const Rect& axis, double step_end_ns) {
  const Palette& p = c.theme.colors();
  const auto unit = duration_unit(std::max(step_end_ns, 1.0));
  const int count = std::max(2, static_cast<int>(c.plot.w / px(c, 90)));
  const double divisor = unit == "s" ? 1e9 : unit == "ms" ? 1e6 : 1e3;
  for (const double tick : nice_ticks(c.view.start_ns(), c.view.end_ns(), count)) {
    const float x = std::round(c.x(tick));
    line(x, c.plot.y, x, c.plot.bottom(), color(p.grid));
    const std::string label = format_plain(tick / divisor) + " " + std::string(unit);
    const float width = text_width(c.theme, Face::kMonoSmall, label);
    const float left = std::clamp(x - width / 2, c.plot.x, c.plot.right() - width);
    text_in(c.theme, {left, axis.y, width + 1, axis.h}, Face::kMonoSmall, p.text_muted, label);
  }
}

}  // namespace shardlens::ui
