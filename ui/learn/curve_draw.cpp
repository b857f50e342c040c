#include "ui/learn/curve_draw.h"

#include <algorithm>
#include <cmath>

#include "trace/base/number_text.h"
#include "ui/present/axis.h"
#include "ui/present/format.h"

namespace shardlens::ui::learn {

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

void draw_dots(const kit::Theme& theme, const CurvePlot& plot,
               const std::vector<CurvePoint>& points, state::Rgb c) {
  for (const CurvePoint& point : points) {
    kit::shape(kit::Shape::kDot, plot.x(point.x), plot.y(point.mean), theme.px(6), kit::color(c));
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
