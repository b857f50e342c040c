#include "ui/learn/learning_panel.h"

#include <algorithm>
#include <cmath>

#include "trace/analysis/figures/evaluation_table.h"
#include "trace/base/number_text.h"
#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/axis.h"
#include "ui/present/format.h"

namespace shardlens::ui::learn {

namespace {

constexpr float kLabels = 40, kSmallLabels = 34;  // left of a plot, for its axis
constexpr float kSmallShare = 0.38f;
constexpr float kLeastForSmall = 300;  // below it the loss stands alone

void draw_dots(const kit::Theme& theme, const CurvePlot& plot,
               const std::vector<CurvePoint>& points, state::Rgb c) {
  for (const CurvePoint& point : points) {
    kit::shape(kit::Shape::kDot, plot.x(point.x), plot.y(point.mean), theme.px(6), kit::color(c));
  }
}

void draw_tooltip(const kit::Theme& theme, const trace::analysis::RunFigures& figures,
                  std::int64_t at) {
  const trace::analysis::StepFigures* step = nearest_read_step(figures, at);
  if (step == nullptr) return;
  const kit::TooltipScope scope(theme);
  scope.title("Step " + present::format_integer(step->index));
  scope.row(nullptr, "Loss", learning_value_text(step->loss));
  if (std::isfinite(step->gradient_norm)) {
    scope.row(nullptr, "Gradient norm", learning_value_text(step->gradient_norm));
  }
  if (step->learning_rate) {
    scope.row(nullptr, "Learning rate", learning_value_text(*step->learning_rate));
  }
  if (const auto* evaluation = evaluation_at(figures, step->index)) {
    scope.row(nullptr, "Evaluation, after step " + present::format_integer(evaluation->step),
              learning_value_text(evaluation->loss));
    if (std::isfinite(evaluation->perplexity)) {
      scope.row(nullptr, "Perplexity", learning_value_text(evaluation->perplexity));
    }
    if (std::isfinite(evaluation->accuracy)) {
      scope.row(nullptr, "Accuracy", present::format_percent(evaluation->accuracy).text());
    }
  }
  scope.note("Loss: mean over all ranks' targets, in nats; gradient norm: before clipping");
}

// Everything that the charts of one run share.
struct Drawing {
  const kit::Theme& theme;
  const state::Snapshot& snapshot;
  state::Commands& commands;
  const trace::analysis::RunFigures& figures;
  StepAxis axis;

  void mark_selected(const state::Rect& area) const {
    const std::int64_t step = snapshot.run->selected_step;
    if (step < axis.first || step > axis.last) return;
    const float x = std::round(area.x + static_cast<float>(axis.x_of(step, area.w)));
    kit::line(x, area.y, x, area.bottom(), kit::color(theme.colors().text_muted));
  }

  void react(const std::string& name, const state::Rect& area) const {
    const kit::Hit hit = kit::mouse_area(theme, name, area);
    if (!hit.hovered) return;
    const std::int64_t at = axis.step_at(ImGui::GetIO().MousePos.x - area.x, area.w);
    draw_tooltip(theme, figures, at);
    const trace::analysis::StepFigures* step = nearest_read_step(figures, at);
    if (hit.clicked && step != nullptr) commands.push_back(state::SelectStep{step->index});
  }

  void draw_loss(state::Rect area) const {
    area.take_left(theme.px(kLabels));
    area.take_bottom(theme.px(16));
    const auto losses = curve_points(figures, LearningCurve::kLoss, axis, area.w);
    const auto evaluations = curve_points(figures, LearningCurve::kEvaluation, axis, area.w);
    const auto values = value_axis({&losses, &evaluations}, false);
    if (!values) return;
    const CurvePlot plot{area, *values};
    draw_value_grid(theme, plot, std::max(2, static_cast<int>(area.h / theme.px(30))));
    draw_step_labels(theme, area, axis);
    mark_selected(area);
    const kit::Clip clip(area.inset(-theme.px(4), -theme.px(4)));
    draw_curve(theme, plot, losses, theme.colors().text_secondary);
    draw_curve(theme, plot, evaluations, theme.colors().text);
    draw_dots(theme, plot, evaluations, theme.colors().text);
    react("learning/loss", area);
  }

  void draw_small(state::Rect area, LearningCurve curve, std::string_view name) const {
    const state::Palette& p = theme.colors();
    state::Rect title = area.take_top(theme.px(16));
    area.take_left(theme.px(kSmallLabels));
    area.take_bottom(theme.px(5));  // half of the label of zero
    const auto points = curve_points(figures, curve, axis, area.w);
    if (!points.empty()) {
      const float used =
          kit::label_in(theme, title, kit::Face::kMonoSmall, p.text_secondary,
                        learning_value_text(points.back().mean, 3), kit::Align::kRight);
      title.w -= used + theme.px(8);
    }
    kit::text_in(theme, title, kit::Face::kSmall, p.text_muted, name);
    const auto values = value_axis({&points}, true);
    if (!values || area.h < theme.px(8)) return;
    const CurvePlot plot{area, *values};
    draw_value_grid(theme, plot, std::max(1, static_cast<int>(area.h / theme.px(26))));
    mark_selected(area);
    draw_curve(theme, plot, points, p.text_secondary);
    react("learning/" + std::string(name), area);
  }
};

void draw_legend(const kit::Theme& theme, state::Rect header, bool evaluates) {
  const state::Palette& p = theme.colors();
  const auto entry = [&](std::string_view name, state::Rgb c, bool dot) {
    const state::Rect mark = kit::legend_entry(theme, header, 14, name, p.text_secondary);
    if (mark.empty()) return;
    kit::line(mark.x, mark.center_y(), mark.right(), mark.center_y(), kit::color(c),
              theme.px(kCurveWidth));
    if (dot)
      kit::shape(kit::Shape::kDot, mark.center_x(), mark.center_y(), theme.px(6), kit::color(c));
  };
  entry("Loss", p.text_secondary, false);
  if (evaluates) entry("Evaluation", p.text, true);
}

// "lowest 3.412 after step 40"
std::string best_text(const trace::analysis::RunFigures& figures) {
  const auto* best = trace::analysis::best_evaluation(figures.evaluations);
  if (best == nullptr) return {};
  return "lowest " + learning_value_text(best->loss) + " after step " +
         present::format_integer(best->step);
}

void draw_learning_charts(const kit::Theme& theme, const state::Rect& body,
                          const state::Snapshot& snapshot, state::Commands& commands) {
  const trace::analysis::RunFigures& figures = snapshot.run->figures;
  const Drawing drawing{theme, snapshot, commands, figures, step_axis(figures)};
  state::Rect rest = body;
  if (rest.w >= theme.px(kLeastForSmall)) {
    state::Rect small = rest.take_right(rest.w * kSmallShare, theme.px(14));
    const state::Rect upper = small.take_top((small.h - theme.px(6)) / 2, theme.px(6));
    drawing.draw_small(upper, LearningCurve::kLearningRate, "Learning rate");
    drawing.draw_small(small, LearningCurve::kGradientNorm, "Gradient norm");
  }
  drawing.draw_loss(rest);
}

}  // namespace

void draw_learning_wide(const kit::Theme& theme, const state::Rect& body,
                        const state::Snapshot& snapshot, state::Commands& commands) {
  const trace::analysis::RunFigures& figures = snapshot.run->figures;
  state::Rect rest = body;
  state::Rect head = rest.take_top(theme.px(18));
  kit::text_in(theme, head, kit::Face::kSmall, theme.colors().text_muted, best_text(figures),
               kit::Align::kRight);
  draw_legend(theme, head, !figures.evaluations.empty());
  draw_learning_charts(theme, rest, snapshot, commands);
}

void draw_learning_panel(const kit::Theme& theme, const state::Rect& rect,
                         const state::Snapshot& snapshot, state::Commands& commands) {
  const trace::analysis::RunFigures& figures = snapshot.run->figures;
  const std::string note = best_text(figures);
  const kit::Panel panel(theme, "learning", rect, {.title = "Learning", .note = note});
  {
    const kit::Clip header_clip(rect, false);
    draw_legend(theme, panel.header, !figures.evaluations.empty());
  }
  state::Rect body = panel.body;
  body.take_top(theme.px(2));
  draw_learning_charts(theme, body, snapshot, commands);
}

std::string learning_value_text(double value, int digits) {
  if (value == 0 || std::abs(value) >= 0.01) return trace::base::formatted("%.*g", digits, value);
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value))));
  return trace::base::formatted("%.*ge%d", digits, value / std::pow(10.0, exponent), exponent);
}

void draw_value_grid(const kit::Theme& theme, const CurvePlot& plot, int count) {
  for (const double tick : present::nice_ticks(plot.axis.low, plot.axis.high, count)) {
    const float y = plot.y(tick);
    const bool is_cut = y < plot.area.y + theme.px(5);
    kit::tick_left(theme, plot.area, y, is_cut ? "" : learning_value_text(tick));
  }
}

void draw_curve(const kit::Theme& theme, const CurvePlot& plot,
                const std::vector<CurvePoint>& points, state::Rgb c, float width) {
  for (const CurvePoint& point : points) {
    if (point.high - point.low <= 0) continue;  // a single value
    kit::line(plot.x(point.x), plot.y(point.low), plot.x(point.x), plot.y(point.high),
              kit::color(c, 0.35f));
  }
  for (std::size_t i = 1; i < points.size(); ++i) {
    kit::line(plot.x(points[i - 1].x), plot.y(points[i - 1].mean), plot.x(points[i].x),
              plot.y(points[i].mean), kit::color(c), theme.px(width));
  }
  if (points.size() == 1) {
    kit::shape(kit::Shape::kDot, plot.x(points[0].x), plot.y(points[0].mean), theme.px(5),
               kit::color(c));
  }
}

void draw_step_labels(const kit::Theme& theme, const state::Rect& area, const StepAxis& axis) {
  const auto span = static_cast<double>(axis.last - axis.first);
  const int count = std::max(2, static_cast<int>(area.w / theme.px(44)));
  for (const double tick : present::nice_ticks(static_cast<double>(axis.first),
                                               static_cast<double>(axis.last), count)) {
    if (tick != std::floor(tick) || span <= 0) continue;
    const auto step = static_cast<std::int64_t>(tick);
    const std::string label = present::format_integer(step);
    const float width = kit::text_width(theme, kit::Face::kMonoSmall, label);
    const float center = area.x + static_cast<float>(axis.x_of(step, area.w));
    const float x = std::min(std::round(center - width / 2), area.right() - width);
    kit::text(theme, x, area.bottom() + theme.px(14), kit::Face::kMonoSmall,
              theme.colors().text_muted, label);
  }
}

}  // namespace shardlens::ui::learn
