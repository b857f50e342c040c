// The curves of what a run learns: loss, evaluations, learning rate, gradient norm, as points in
// pixels. Free of ImGui; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/analysis/figures/figures.h"

namespace shardlens::ui::learn {

enum class LearningCurve : std::uint8_t { kLoss, kEvaluation, kLearningRate, kGradientNorm };

// All values of the steps that fall on one column of pixels.
struct CurvePoint {
  double x = 0;  // pixels from the chart's left
  double low = 0, high = 0, mean = 0;

  bool operator==(const CurvePoint&) const = default;
};

// The steps of a chart, from its left to its right edge.
struct StepAxis {
  std::int64_t first = 0, last = 1;

  double x_of(std::int64_t step, double width) const;
  // Clamped to the axis.
  std::int64_t step_at(double x, double width) const;
};
// Of all steps that a run will have as far as that is known: the end does not move while it is
// live.
StepAxis step_axis(const trace::analysis::RunFigures& figures);

// Values that are not finite are left out; at most one point per pixel, from left to right.
std::vector<CurvePoint> curve_points(const trace::analysis::RunFigures& figures,
                                     LearningCurve curve, const StepAxis& axis, double width);

struct ValueAxis {
  double low = 0, high = 1;

  // 0 at the bottom, 1 at the top.
  double share_of(double value) const { return (value - low) / (high - low); }
};
// Covers the curves with room above and below; none: nothing to draw. With `from_zero` it begins
// there.
std::optional<ValueAxis> value_axis(const std::vector<const std::vector<CurvePoint>*>& curves,
                                    bool from_zero);

// The step nearest to `step` that has a loss that was read; none: no step has.
const trace::analysis::StepFigures* nearest_read_step(const trace::analysis::RunFigures& figures,
                                                      std::int64_t step);
// The last evaluation at or before a step.
const trace::model::Evaluation* evaluation_at(const trace::analysis::RunFigures& figures,
                                              std::int64_t step);
// Whether there is anything to draw: an imported run has no losses.
bool has_learning(const trace::analysis::RunFigures& figures);

}  // namespace shardlens::ui::learn
