#include "ui/learn/learning_chart.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "trace/model/run_info.h"

namespace shardlens::ui::learn {

namespace {

// What lies on one column so far.
struct Column {
  double x = 0, low = 0, high = 0, sum = 0;
  std::int64_t count = 0;
};

class Columns {
 public:
  Columns(const StepAxis& axis, double width) : axis_(axis), width_(width) {}

  void add(std::int64_t step, double value) {
    if (!std::isfinite(value)) return;
    const double x = std::floor(axis_.x_of(step, width_));
    if (columns_.empty() || columns_.back().x != x) columns_.push_back({x, value, value, 0, 0});
    Column& column = columns_.back();
    column.low = std::min(column.low, value);
    column.high = std::max(column.high, value);
    column.sum += value;
    ++column.count;
  }

  std::vector<CurvePoint> points() const {
    std::vector<CurvePoint> points;
    points.reserve(columns_.size());
    for (const Column& c : columns_) {
      points.push_back({c.x, c.low, c.high, c.sum / static_cast<double>(c.count)});
    }
    return points;
  }

 private:
  StepAxis axis_;
  double width_;
  std::vector<Column> columns_;
};

double value_of(const trace::analysis::StepFigures& step, LearningCurve curve) {
  switch (curve) {
    case LearningCurve::kLoss:
      return step.loss;
    case LearningCurve::kLearningRate:
      return step.learning_rate.value_or(std::numeric_limits<double>::quiet_NaN());
    case LearningCurve::kGradientNorm:
      return step.gradient_norm;
    case LearningCurve::kEvaluation:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

double StepAxis::x_of(std::int64_t step, double width) const {
  return static_cast<double>(step - first) / static_cast<double>(last - first) *
         std::max(0.0, width - 1);
}

std::int64_t StepAxis::step_at(double x, double width) const {
  const double share = std::clamp(x / std::max(1.0, width - 1), 0.0, 1.0);
  return first + std::llround(share * static_cast<double>(last - first));
}

StepAxis step_axis(const trace::analysis::RunFigures& figures) {
  StepAxis axis;
  if (!figures.steps.empty()) {
    axis.first = figures.steps.front().index;
    axis.last = figures.steps.back().index;
  }
  const bool goes_on = figures.info.status == trace::model::RunStatus::kRunning;
  if (goes_on && trace::model::has_settings(figures.info) && figures.info.settings.epochs == 0) {
    axis.last = std::max(axis.last, figures.info.settings.steps - 1);
  }
  axis.last = std::max(axis.last, axis.first + 1);
  return axis;
}

std::vector<CurvePoint> curve_points(const trace::analysis::RunFigures& figures,
                                     LearningCurve curve, const StepAxis& axis, double width) {
  Columns columns(axis, width);
  if (curve == LearningCurve::kEvaluation) {
    for (const trace::model::Evaluation& each : figures.evaluations) {
      if (each.step >= axis.first && each.step <= axis.last) columns.add(each.step, each.loss);
    }
  } else {
    for (const trace::analysis::StepFigures& step : figures.steps) {
      columns.add(step.index, value_of(step, curve));
    }
  }
  return columns.points();
}

std::optional<ValueAxis> value_axis(const std::vector<const std::vector<CurvePoint>*>& curves,
                                    bool from_zero) {
  std::optional<ValueAxis> axis;
  for (const auto* points : curves) {
    for (const CurvePoint& point : *points) {
      if (!axis) axis = ValueAxis{point.low, point.high};
      axis->low = std::min(axis->low, point.low);
      axis->high = std::max(axis->high, point.high);
    }
  }
  if (!axis) return std::nullopt;
  if (from_zero) axis->low = std::min(0.0, axis->low);
  // A curve of equal values runs through the middle.
  double room = 0.06 * (axis->high - axis->low);
  if (room == 0) room = axis->high != 0 ? 0.1 * std::abs(axis->high) : 1;
  if (!from_zero || axis->low < 0) axis->low -= room;
  axis->high += room;
  return axis;
}

const trace::analysis::StepFigures* nearest_read_step(const trace::analysis::RunFigures& figures,
                                                      std::int64_t step) {
  const trace::analysis::StepFigures* nearest = nullptr;
  for (const trace::analysis::StepFigures& each : figures.steps) {
    if (!std::isfinite(each.loss)) continue;
    if (nearest == nullptr || std::abs(each.index - step) < std::abs(nearest->index - step)) {
      nearest = &each;
    }
  }
  return nearest;
}

const trace::model::Evaluation* evaluation_at(const trace::analysis::RunFigures& figures,
                                              std::int64_t step) {
  const trace::model::Evaluation* found = nullptr;
  for (const trace::model::Evaluation& each : figures.evaluations) {
    if (each.step <= step) found = &each;
  }
  return found;
}

bool has_learning(const trace::analysis::RunFigures& figures) {
  return !figures.info.communication_off &&
         std::ranges::any_of(figures.steps,
                             [](const auto& step) { return std::isfinite(step.loss); });
}

}  // namespace shardlens::ui::learn
