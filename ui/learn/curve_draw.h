// Curves over steps: grid, labels and lines, as all charts of learning have them. Interface thread,
// inside a frame.
#pragma once

#include <string>
#include <vector>

#include "ui/kit/paint.h"
#include "ui/learn/learning_chart.h"

namespace shardlens::ui::learn {

inline constexpr float kCurveWidth = 1.6f;

std::string learning_value_text(double value, int digits = 4);  // "3.412", "0.01", "3e-4"

struct CurvePlot {
  state::Rect area;
  ValueAxis axis;
  float y(double value) const {
    return area.bottom() - static_cast<float>(axis.share_of(value)) * area.h;
  }
  float x(double pixels) const { return area.x + static_cast<float>(pixels); }
};

// About `count` lines with their values left of the plot.
void draw_value_grid(const kit::Theme& theme, const CurvePlot& plot, int count);
void draw_curve(const kit::Theme& theme, const CurvePlot& plot,
                const std::vector<CurvePoint>& points, state::Rgb c, float width = kCurveWidth);
void draw_dots(const kit::Theme& theme, const CurvePlot& plot,
               const std::vector<CurvePoint>& points, state::Rgb c);
// Under the plot.
void draw_step_labels(const kit::Theme& theme, const state::Rect& area, const StepAxis& axis);

}  // namespace shardlens::ui::learn
