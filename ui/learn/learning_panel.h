// What the run learns, beside its step times: loss and evaluations, learning rate, gradient norm;
// and curves over steps, their grid and labels, as all charts of learning have them. Interface
// thread, inside a frame.
#pragma once

#include <string>
#include <vector>

#include "ui/kit/paint.h"
#include "ui/kit/theme.h"
#include "ui/learn/learning_chart.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::learn {

// With a surface and a title of its own.
void draw_learning_panel(const kit::Theme& theme, const state::Rect& rect,
                         const state::Snapshot& snapshot, state::Commands& commands);
// For whoever has a frame already.
void draw_learning_wide(const kit::Theme& theme, const state::Rect& body,
                        const state::Snapshot& snapshot, state::Commands& commands);

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
// Under the plot.
void draw_step_labels(const kit::Theme& theme, const state::Rect& area, const StepAxis& axis);

}  // namespace shardlens::ui::learn
