#include "ui/compare/loss_curves.h"

#include <algorithm>
#include <string>
#include <vector>

#include "ui/compare/compare_layout.h"
#include "ui/compare/run_chips.h"
#include "ui/kit/widgets.h"
#include "ui/learn/learning_chart.h"
#include "ui/learn/learning_panel.h"
#include "ui/present/format.h"

namespace shardlens::ui::compare {

namespace {

using learn::LearningCurve;

constexpr float kLossLabels = 44, kLetterColumn = 22, kLetterHeight = 18;

struct LossCurve {
  std::size_t run = 0;
  std::vector<learn::CurvePoint> points;
};

bool learns(const state::ComparedRun& run) {
  return run.run && learn::has_learning(run.run->figures);
}

learn::StepAxis common_axis(const state::ComparisonView& view) {
  learn::StepAxis axis;
  bool is_first = true;
  for (const auto& run : view.runs) {
    if (!learns(run)) continue;
    const learn::StepAxis own = learn::step_axis(run.run->figures);
    axis.first = is_first ? own.first : std::min(axis.first, own.first);
    axis.last = is_first ? own.last : std::max(axis.last, own.last);
    is_first = false;
  }
  return axis;
}

// Letters at the right end of their curves, apart where these end close to each other.
void draw_letters(const kit::Theme& theme, const learn::CurvePlot& plot,
                  const std::vector<LossCurve>& curves, const state::Rect& column) {
  std::vector<float> ends;
  for (const LossCurve& curve : curves) ends.push_back(plot.y(curve.points.back().mean));
  const float height =
      std::min(theme.px(kLetterHeight),
               column.h / static_cast<float>(std::max<std::size_t>(curves.size(), 1)));
  const auto centres = moved_apart(std::move(ends), height, column.y, column.bottom());
  for (std::size_t i = 0; i < curves.size(); ++i) {
    draw_run_letter(theme, {column.x, centres[i] - height / 2, column.w, height}, curves[i].run);
  }
}

void explain_losses(const kit::Theme& theme, const state::ComparisonView& view, std::int64_t step) {
  const kit::TooltipScope scope(theme);
  scope.title("Loss at step " + present::format_integer(step));
  for (std::size_t i = 0; i < view.runs.size(); ++i) {
    if (!learns(view.runs[i])) continue;
    const auto* at = learn::nearest_read_step(view.runs[i].run->figures, step);
    if (at == nullptr) continue;
    const std::string other = at->index == step ? "" : " (step " + std::to_string(at->index) + ")";
    scope.row(nullptr, run_letter(i) + " · " + view.runs[i].name + other,
              learn::learning_value_text(at->loss));
  }
  scope.note("Mean over all ranks' targets, in nats");
}

}  // namespace

bool has_losses(const state::ComparisonView& view) {
  return std::ranges::any_of(view.runs, learns);
}

void draw_loss_curves(const kit::Theme& theme, const state::Rect& rect,
                      const state::ComparisonView& view, std::size_t chosen) {
  const state::Palette& p = theme.colors();
  state::Rect area = rect;
  area.take_left(theme.px(kLossLabels));
  area.take_bottom(theme.px(16));
  const state::Rect letters = area.take_right(theme.px(kLetterColumn));
  const learn::StepAxis axis = common_axis(view);
  std::vector<LossCurve> curves;
  for (std::size_t i = 0; i < view.runs.size(); ++i) {
    if (!learns(view.runs[i])) continue;
    auto points =
        learn::curve_points(view.runs[i].run->figures, LearningCurve::kLoss, axis, area.w);
    if (!points.empty()) curves.push_back({i, std::move(points)});
  }
  std::vector<const std::vector<learn::CurvePoint>*> all;
  for (const LossCurve& curve : curves) all.push_back(&curve.points);
  const auto values = learn::value_axis(all, false);
  if (!values || area.empty()) return;
  const learn::CurvePlot plot{area, *values};
  learn::draw_value_grid(theme, plot, std::max(2, static_cast<int>(area.h / theme.px(30))));
  learn::draw_step_labels(theme, area, axis);
  {
    const kit::Clip clip(area.inset(-theme.px(4), -theme.px(4)));
    for (const LossCurve& curve : curves) {
      const bool stands_out = curve.run == 0 || curve.run == chosen;
      learn::draw_curve(theme, plot, curve.points, curve.run == chosen ? p.text : p.text_muted,
                        stands_out ? learn::kCurveWidth : 1.0f);
    }
  }
  draw_letters(theme, plot, curves, letters);
  const kit::Hit hit = kit::mouse_area(theme, "compare/loss", area);
  if (hit.hovered) {
    explain_losses(theme, view, axis.step_at(ImGui::GetIO().MousePos.x - area.x, area.w));
  }
}

}  // namespace shardlens::ui::compare
