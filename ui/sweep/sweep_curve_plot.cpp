#include <algorithm>
#include <cmath>
#include <string>

#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/present/sweep/sweep_words.h"
#include "ui/sweep/sweep_plots.h"

namespace shardlens::ui::sweep {

namespace {

using present::SweepCurve;

constexpr float kTimeLabels = 68, kValueLabels = 34, kEdge = 18, kCap = 5, kReach = 14;
constexpr float kLegendHeight = 22, kMeanDot = 8, kRunDot = 5;
// Sizes of a ranking, at scale 1.
constexpr float kTicks = 20, kRow = 24, kHighestRow = 56, kSideRoom = 12, kEnd = 4, kBeside = 5;
constexpr float kMostNames = 0.45f;  // of the width

// Marks a point's mean over the dots of its runs.
void draw_mean(const kit::Theme& theme, ImVec2 at, bool is_selected) {
  const state::Palette& p = theme.colors();
  kit::shape(kit::Shape::kDot, at.x, at.y, theme.px(kMeanDot + 3),
             kit::color(is_selected ? p.text : p.panel));
  kit::shape(kit::Shape::kDot, at.x, at.y, theme.px(kMeanDot), kit::color(p.accent));
}

// What the marks are.
void draw_curve_legend(const kit::Theme& theme, state::Rect row, const SweepCurve& curve) {
  const state::Palette& p = theme.colors();
  const auto entry = [&](const char* words, const auto& draw_mark) {
    const state::Rect mark = kit::legend_entry(theme, row, 20, words, p.text_secondary);
    if (!mark.empty()) draw_mark(mark);
  };
  const char* what = curve.of_memory   ? "peak memory, 95 %"
                     : curve.by_tokens ? "time per token, 95 %"
                                       : "step time, 95 %";
  entry(what, [&](const state::Rect& mark) {
    kit::line(mark.center_x(), mark.y + theme.px(3), mark.center_x(), mark.bottom() - theme.px(3),
              kit::color(p.text_muted), theme.px(1.4f));
    kit::shape(kit::Shape::kDot, mark.center_x(), mark.center_y(), theme.px(kMeanDot),
               kit::color(p.accent));
  });
  entry("one run", [&](const state::Rect& mark) {
    kit::shape(kit::Shape::kDot, mark.center_x(), mark.center_y(), theme.px(kRunDot),
               kit::color(p.text_secondary));
  });
  const bool is_predicted = std::ranges::any_of(
      curve.points, [](const auto& point) { return point.predicted.has_value(); });
  if (!is_predicted) return;
  entry(curve.of_search ? "predicted" : "predicted from one run", [&](const state::Rect& mark) {
    kit::dashed_line(theme, mark.x, mark.center_y(), mark.right(), mark.center_y(),
                     kit::color(p.changed));
  });
}

void draw_time_axis(const kit::Theme& theme, const kit::Plot& plot, const SweepCurve& curve) {
  const state::Rect area = plot.area.inset(-theme.px(kEdge), 0);
  for (const present::Tick& tick : curve.ticks) {
    kit::tick_left(theme, area, plot.y(tick.at), tick.label);
  }
}

// Labels that would lie on another one are left out; the best's never is.
void draw_value_axis(const kit::Theme& theme, const kit::Plot& plot, const PlotInput& input,
                     const SweepCurve& curve) {
  const state::Palette& p = theme.colors();
  const float top = plot.area.bottom() + theme.px(4);
  std::vector<state::Rect> taken;
  const auto write = [&](const SweepCurve::Point& point, bool is_best) {
    const float width =
        std::min(kit::text_width(theme, kit::Face::kMonoSmall, point.label), theme.px(140));
    const state::Rect box{plot.x(point.x) - width / 2 - theme.px(4), top, width + theme.px(8),
                          theme.px(16)};
    const bool is_free =
        std::ranges::none_of(taken, [&](const state::Rect& other) { return other.overlaps(box); });
    if (!is_free) return;
    taken.push_back(box);
    kit::text_in(theme, box.inset(theme.px(4), 0), kit::Face::kMonoSmall,
                 is_best ? p.text : p.text_secondary, point.label, kit::Align::kCenter);
  };
  for (const auto& point : curve.points) {
    if (input.sweep.best == point.point) write(point, true);
  }
  for (const auto& point : curve.points) {
    if (input.sweep.best != point.point) write(point, false);
  }
  kit::text_in(theme, {plot.area.x, top + theme.px(16), plot.area.w, theme.px(14)},
               kit::Face::kSmall, p.text_muted, present::axis_title(*input.sweep.varied.front()),
               kit::Align::kCenter);
}

void draw_estimate(const kit::Theme& theme, const kit::Plot& plot, float x,
                   const SweepCurve::Estimate& estimate, state::Rgb ink, bool is_dashed) {
  if (!estimate.low || !estimate.high) return;
  kit::interval(theme, {x, plot.y(*estimate.high)}, {x, plot.y(*estimate.low)}, {theme.px(kCap), 0},
                kit::color(ink), is_dashed);
}

void draw_predicted(const kit::Theme& theme, const kit::Plot& plot, const SweepCurve& curve) {
  const state::Palette& p = theme.colors();
  // No line leads over a point of which nothing was predicted.
  const SweepCurve::Point* before = nullptr;
  for (const SweepCurve::Point& point : curve.points) {
    if (!point.predicted) {
      before = nullptr;
      continue;
    }
    const float x = plot.x(point.x), y = plot.y(point.predicted->y);
    if (before != nullptr) {
      kit::dashed_line(theme, plot.x(before->x), plot.y(before->predicted->y), x, y,
                       kit::color(p.changed));
    }
    before = &point;
    // Beside the measured one, which it would hide.
    const float beside = x + theme.px(7);
    draw_estimate(theme, plot, beside, *point.predicted, p.changed, true);
    kit::shape(kit::Shape::kDot, x, y, theme.px(kRunDot), kit::color(p.changed));
  }
}

// Below the point's intervals; above them where the plot ends.
void draw_best_word(const kit::Theme& theme, const kit::Plot& plot, float x,
                    const SweepCurve::Point& point, const std::string& mark) {
  float top = plot.y(point.measured->y), bottom = top;
  for (const auto& estimate : {point.measured, point.predicted}) {
    if (!estimate) continue;
    top = std::min(top, plot.y(estimate->high.value_or(estimate->y)));
    bottom = std::max(bottom, plot.y(estimate->low.value_or(estimate->y)));
  }
  const float below = bottom + theme.px(6);
  const bool has_room = below + theme.px(14) < plot.area.bottom() + theme.px(kEdge);
  const float y = has_room ? below : std::max(plot.area.y - theme.px(kEdge), top - theme.px(20));
  // Nor is it cut where the best is the first or the last.
  const float width = kit::text_width(theme, kit::Face::kSmall, mark);
  const state::Rect room = plot.area.inset(-theme.px(kEdge), 0);
  const float left = std::clamp(x - width / 2, room.x, std::max(room.x, room.right() - width));
  kit::text_in(theme, {left, y, width, theme.px(14)}, kit::Face::kSmall, theme.colors().text, mark);
}

void draw_measured(const kit::Theme& theme, const kit::Plot& plot, const PlotInput& input,
                   const SweepCurve& curve) {
  const state::Palette& p = theme.colors();
  const SweepCurve::Point* before = nullptr;
  for (const SweepCurve::Point& point : curve.points) {
    if (!point.measured) continue;
    if (before != nullptr) {
      kit::line(plot.x(before->x), plot.y(before->measured->y), plot.x(point.x),
                plot.y(point.measured->y), kit::color(p.accent, 0.8f), theme.px(1.6f));
    }
    before = &point;
  }
  for (const SweepCurve::Point& point : curve.points) {
    const float x = plot.x(point.x);
    if (point.measured) draw_estimate(theme, plot, x, *point.measured, p.text_muted, false);
    for (const float run : point.runs) {
      kit::shape(kit::Shape::kDot, x, plot.y(run), theme.px(kRunDot),
                 kit::color(p.text_secondary, 0.85f));
    }
    if (!point.measured) continue;
    draw_mean(theme, {x, plot.y(point.measured->y)}, input.selected == point.point);
    if (input.sweep.best == point.point)
      draw_best_word(theme, plot, x, point, present::best_mark(input.sweep));
  }
}

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

void explain_point(const kit::Theme& theme, const state::ShownSweep& sweep, std::size_t point) {
  const state::SweepPoint& of = sweep.points[point];
  const kit::TooltipScope scope(theme);
  scope.title(present::sweep_point_text(sweep, point));
  if (of.step_ns) scope.row(nullptr, "Step", present::sweep_step_text(of));
  if (of.searched && of.searched->measured && sweep.is_for_memory()) {
    scope.row(nullptr, "Peak memory", present::format_bytes(*of.searched->measured).text());
  }
  if (const auto predicted = present::predicted_text(sweep, of); !predicted.empty()) {
    scope.row(nullptr, "Predicted", predicted);
  }
  if (of.exposed_ns) scope.row(nullptr, "Exposed", present::format_duration(*of.exposed_ns).text());
  if (of.tokens_per_s && sweep.by_tokens) {
    scope.row(nullptr, "Tokens/s", present::format_rate(*of.tokens_per_s, "/s").text());
  }
  if (of.peak_tensor_bytes) {
    scope.row(nullptr, "Peak of tensors", present::format_bytes(*of.peak_tensor_bytes).text());
  }
  scope.row(nullptr, "Runs", std::to_string(of.runs.size()));
  scope.row(nullptr, "Beside the best", present::beside_best_text(sweep, of));
  if (!of.reason.empty()) scope.note(of.reason);
  if (!of.failed_once.empty()) scope.note("Failed once: " + of.failed_once);
  if (!of.prediction.step_ns && !of.prediction.reason.empty()) {
    scope.note("Not predicted: " + of.prediction.reason);
  }
}

std::optional<std::size_t> draw_sweep_curve(const kit::Theme& theme, const state::Rect& rect,
                                            const PlotInput& input,
                                            const present::SweepCurve& curve) {
  state::Rect rest = rect;
  draw_curve_legend(theme, rest.take_top(theme.px(kLegendHeight)), curve);
  rest.take_left(theme.px(kTimeLabels));
  rest.take_bottom(theme.px(kValueLabels));
  const kit::Plot plot{rest.inset(theme.px(kEdge), theme.px(kEdge))};
  if (plot.area.empty()) return std::nullopt;
  draw_time_axis(theme, plot, curve);
  draw_value_axis(theme, {{plot.area.x, rest.y, plot.area.w, rest.h}}, input, curve);
  {
    const kit::Clip clip(rest);
    draw_predicted(theme, plot, curve);
    draw_measured(theme, plot, input, curve);
  }
  const kit::Hit hit = kit::mouse_area(theme, "sweep/curve", rest);
  if (!hit.hovered) return std::nullopt;
  const float mouse = ImGui::GetIO().MousePos.x;
  const auto nearest = std::ranges::min_element(
      curve.points, {}, [&](const auto& point) { return std::abs(plot.x(point.x) - mouse); });
  if (std::abs(plot.x(nearest->x) - mouse) > theme.px(2 * kReach)) return std::nullopt;
  explain_point(theme, input.sweep, nearest->point);
  return hit.clicked ? std::optional(nearest->point) : std::nullopt;
}

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
