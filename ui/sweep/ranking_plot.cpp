#include <algorithm>
#include <cmath>
#include <string>

#include "ui/kit/widgets.h"
#include "ui/sweep/sweep_plots.h"

namespace shardlens::ui::sweep {

namespace {

using present::SweepCurve;

constexpr float kTicks = 20, kRow = 24, kHighestRow = 56, kSideRoom = 12, kEnd = 4, kBeside = 5;
constexpr float kMostNames = 0.45f;  // of the width

float widest_name(const kit::Theme& theme, const SweepCurve& ranking, std::size_t shown) {
  float widest = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    widest =
        std::max(widest, kit::text_width(theme, kit::Face::kMonoSmall, ranking.points[i].label));
  }
  return widest;
}

void draw_ranked_estimate(const kit::Theme& theme, const kit::Plot& plot, float y,
                          const SweepCurve::Estimate& estimate, state::Rgb ink, bool is_dashed) {
  if (!estimate.low || !estimate.high) return;
  kit::interval(theme, {plot.x(*estimate.low), y}, {plot.x(*estimate.high), y}, {0, theme.px(kEnd)},
                kit::color(ink), is_dashed);
}

// What was predicted lies a little below, so that neither hides the other.
void draw_marks(const kit::Theme& theme, const kit::Plot& plot, float y,
                const SweepCurve::Point& point, bool is_selected) {
  const state::Palette& p = theme.colors();
  if (point.predicted) {
    const float below = y + theme.px(kBeside);
    draw_ranked_estimate(theme, plot, below, *point.predicted, p.changed, true);
    kit::shape(kit::Shape::kDot, plot.x(point.predicted->y), below, theme.px(kRunDot),
               kit::color(p.changed));
  }
  if (point.measured) draw_ranked_estimate(theme, plot, y, *point.measured, p.text_muted, false);
  for (const float run : point.runs) {
    kit::shape(kit::Shape::kDot, plot.x(run), y, theme.px(kRunDot),
               kit::color(p.text_secondary, 0.85f));
  }
  if (point.measured) draw_mean(theme, {plot.x(point.measured->y), y}, is_selected);
}

}  // namespace

std::optional<std::size_t> draw_sweep_ranking(const kit::Theme& theme, const state::Rect& rect,
                                              const PlotInput& input, const SweepCurve& ranking) {
  const state::Palette& p = theme.colors();
  state::Rect rest = rect;
  draw_curve_legend(theme, rest.take_top(theme.px(kLegendHeight)), ranking);
  const float rows_height = rest.h - theme.px(kTicks);
  const auto room = static_cast<std::size_t>(std::max(0.0f, rows_height / theme.px(kRow)));
  const std::size_t all = ranking.points.size(), shown = std::min(all, room);
  if (shown == 0) return std::nullopt;
  if (shown < all) {
    kit::text_in(theme, {rect.x, rect.y, rect.w, theme.px(kLegendHeight)}, kit::Face::kSmall,
                 p.text_muted, "the first " + std::to_string(shown) + " of " + std::to_string(all),
                 kit::Align::kRight);
  }
  const float names = std::min(widest_name(theme, ranking, shown), rest.w * kMostNames);
  const float row_height = std::min(rows_height / static_cast<float>(shown), theme.px(kHighestRow));
  kit::Plot plot{rest};
  plot.area.h = row_height * static_cast<float>(shown);
  plot.area.take_left(names + theme.px(10 + kSideRoom));
  plot.area.w -= theme.px(kSideRoom);
  kit::ticks_below(theme, plot, ranking.ticks, theme.px(kSideRoom), theme.px(kSideRoom));
  std::optional<std::size_t> clicked;
  for (std::size_t i = 0; i < shown; ++i) {
    const SweepCurve::Point& point = ranking.points[i];
    const state::Rect row{rest.x, rest.y + row_height * static_cast<float>(i), rest.w, row_height};
    const bool is_best = input.sweep.best == point.point;
    kit::text_in(theme, {row.x, row.y, names, row.h}, kit::Face::kMonoSmall,
                 is_best ? p.text : p.text_secondary, point.label, kit::Align::kRight);
    {
      const kit::Clip clip(
          {plot.area.x - theme.px(kSideRoom), row.y, plot.area.w + theme.px(2 * kSideRoom), row.h});
      draw_marks(theme, plot, row.center_y(), point, input.selected == point.point);
    }
    const kit::Hit hit = kit::mouse_area(theme, "sweep/ranking" + std::to_string(i), row);
    if (hit.hovered) explain_point(theme, input.sweep, point.point);
    if (hit.clicked) clicked = point.point;
  }
  return clicked;
}

}  // namespace shardlens::ui::sweep
