#include "ui/present/sweep/sweep_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ui/present/axis.h"
#include "ui/present/format.h"
#include "ui/present/sweep/sweep_words.h"

namespace shardlens::ui::present {

namespace {

constexpr double kDecade = 10;
constexpr double kLeastSpan = 0.02;  // of the step time: less would show noise as a mountain
constexpr double kAround = 0.08;     // of the span, above and below
constexpr int kMostSweepTicks = 6;

std::vector<SweepCurve::Tick> time_ticks_of(const ValueScale& scale) {
  const auto unit = duration_unit(scale.high());
  std::vector<SweepCurve::Tick> ticks;
  for (const double ns : nice_ticks(scale.low(), scale.high(), kMostSweepTicks)) {
    ticks.push_back({scale.of(ns), format_duration_in(ns, unit).text()});
  }
  return ticks;
}

struct PlacedValue {
  std::size_t point = 0;
  std::optional<double> number;
  float x = 0;
};

// Numbers in their order; words as they come, behind them.
std::vector<PlacedValue> placed_values(const state::ShownSweep& sweep) {
  std::vector<PlacedValue> placed;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    placed.push_back({i, number_in(sweep.points[i].values.front())});
  }
  const bool are_numbers = std::ranges::all_of(
      placed, [](const PlacedValue& value) { return value.number.has_value(); });
  std::ranges::stable_sort(placed, {}, [](const PlacedValue& value) {
    return value.number.value_or(std::numeric_limits<double>::infinity());
  });
  const double low = placed.front().number.value_or(0), high = placed.back().number.value_or(0);
  const bool is_logarithmic = are_numbers && low > 0 && high / low > kDecade;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    double share =
        placed.size() == 1 ? 0.5 : static_cast<double>(i) / static_cast<double>(placed.size() - 1);
    if (are_numbers && high > low) {
      const double value = *placed[i].number;
      share = is_logarithmic ? std::log(value / low) / std::log(high / low)
                             : (value - low) / (high - low);
    }
    placed[i].x = static_cast<float>(share);
  }
  return placed;
}

ValueScale scale_over(const state::ShownSweep& sweep) {
  ValueScale scale(kLeastSpan, kAround);
  for (const state::SweepPoint& point : sweep.points) {
    const auto cost = cost_per_step_time(sweep, point);
    if (!cost) continue;
    for (const auto& run : point.runs) scale.add(*cost * run.step_ns);
    if (point.step_ns) {
      // An interval of two runs may be many times as wide as all that was measured.
      const double half = std::min(point.half_width_ns.value_or(0), *point.step_ns / 2);
      scale.add(*cost * (*point.step_ns - half));
      scale.add(*cost * (*point.step_ns + half));
    }
    if (const auto& predicted = point.prediction; predicted.step_ns) {
      scale.add(*cost * *predicted.step_ns);
      if (predicted.interval) {
        scale.add(*cost * std::max(predicted.interval->low_ns, 0.0));
        scale.add(*cost * predicted.interval->high_ns);
      }
    }
  }
  if (!scale.is_empty()) scale.settle();
  return scale;
}

SweepCurve::Point curve_point(const state::SweepPoint& from, const PlacedValue& at,
                              const ValueScale& scale, const std::optional<double>& cost) {
  SweepCurve::Point point{.point = at.point,
                          .label = from.values.front(),
                          .x = at.x,
                          .measured = {},
                          .predicted = {},
                          .runs = {}};
  if (!cost) return point;
  const auto y_of = [&](double step_ns) { return scale.of(*cost * step_ns); };
  if (from.step_ns) {
    point.measured = {.y = y_of(*from.step_ns), .low = {}, .high = {}};
    if (from.half_width_ns) {
      point.measured->low = y_of(*from.step_ns - *from.half_width_ns);
      point.measured->high = y_of(*from.step_ns + *from.half_width_ns);
    }
  }
  if (const auto& predicted = from.prediction; predicted.step_ns) {
    point.predicted = {.y = y_of(*predicted.step_ns), .low = {}, .high = {}};
    if (predicted.interval) {
      point.predicted->low = y_of(predicted.interval->low_ns);
      point.predicted->high = y_of(predicted.interval->high_ns);
    }
  }
  for (const auto& run : from.runs) point.runs.push_back(y_of(run.step_ns));
  return point;
}

}  // namespace

std::optional<SweepCurve> sweep_curve(const state::ShownSweep& sweep) {
  if (sweep.varied.size() != 1 || sweep.points.empty()) return std::nullopt;
  const ValueScale scale = scale_over(sweep);
  if (scale.is_empty()) return std::nullopt;
  SweepCurve curve;
  curve.by_tokens = sweep.by_tokens;
  curve.ticks = time_ticks_of(scale);
  for (const PlacedValue& at : placed_values(sweep)) {
    const auto& point = sweep.points[at.point];
    curve.points.push_back(curve_point(point, at, scale, cost_per_step_time(sweep, point)));
  }
  return curve;
}

std::optional<SweepCurve> sweep_ranking(const state::ShownSweep& sweep) {
  const ValueScale scale = scale_over(sweep);
  if (scale.is_empty()) return std::nullopt;
  SweepCurve ranking;
  ranking.by_tokens = sweep.by_tokens;
  ranking.ticks = time_ticks_of(scale);
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const auto& point = sweep.points[i];
    SweepCurve::Point ranked =
        curve_point(point, {.point = i, .number = {}}, scale, cost_per_step_time(sweep, point));
    if (!ranked.measured && !ranked.predicted) continue;
    ranked.label = sweep_point_label(sweep, i);
    ranking.points.push_back(std::move(ranked));
  }
  std::ranges::stable_sort(ranking.points, {}, [](const SweepCurve::Point& point) {
    return std::pair(!point.measured, point.measured ? point.measured->y : point.predicted->y);
  });
  return ranking;
}

}  // namespace shardlens::ui::present
