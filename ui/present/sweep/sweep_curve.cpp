#include "ui/present/sweep/sweep_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "ui/present/sweep/sweep_words.h"

namespace shardlens::ui::present {

namespace {

constexpr double kDecade = 10;
constexpr double kLeastSpan = 0.02;  // of the step time: less would show noise as a mountain
constexpr double kAround = 0.08;     // of the span, above and below
constexpr int kMostSweepTicks = 6;

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
    const state::PointCost cost = point_cost(sweep, point);
    for (const double run : cost.runs) scale.add(run);
    if (cost.measured) {
      // An interval of two runs may be many times as wide as all that was measured.
      const double half = std::min(cost.half_width.value_or(0), *cost.measured / 2);
      scale.add(*cost.measured - half);
      scale.add(*cost.measured + half);
    }
    if (cost.predicted) scale.add(*cost.predicted);
    if (cost.low) scale.add(*cost.low);
    if (cost.high) scale.add(*cost.high);
  }
  if (!scale.is_empty()) scale.settle();
  return scale;
}

SweepCurve::Point curve_point(const state::ShownSweep& sweep, const PlacedValue& at,
                              const ValueScale& scale) {
  const state::SweepPoint& from = sweep.points[at.point];
  const state::PointCost cost = point_cost(sweep, from);
  SweepCurve::Point point{.point = at.point,
                          .label = from.values.front(),
                          .x = at.x,
                          .measured = {},
                          .predicted = {},
                          .runs = {}};
  if (cost.measured) {
    point.measured = {.y = scale.of(*cost.measured), .low = {}, .high = {}};
    if (cost.half_width) {
      point.measured->low = scale.of(std::max(*cost.measured - *cost.half_width, 0.0));
      point.measured->high = scale.of(*cost.measured + *cost.half_width);
    }
  }
  if (cost.predicted) {
    point.predicted = {.y = scale.of(*cost.predicted), .low = {}, .high = {}};
    if (cost.low) point.predicted->low = scale.of(*cost.low);
    if (cost.high) point.predicted->high = scale.of(*cost.high);
  }
  for (const double run : cost.runs) point.runs.push_back(scale.of(run));
  return point;
}

SweepCurve curve_over(const state::ShownSweep& sweep, const ValueScale& scale) {
  SweepCurve curve;
  curve.by_tokens = sweep.by_tokens;
  curve.of_memory = sweep.is_for_memory();
  curve.of_search = sweep.search.has_value();
  curve.ticks =
      curve.of_memory ? size_ticks(scale, kMostSweepTicks) : time_ticks(scale, kMostSweepTicks);
  return curve;
}

}  // namespace

std::optional<SweepCurve> sweep_curve(const state::ShownSweep& sweep) {
  if (sweep.varied.size() != 1 || sweep.points.empty()) return std::nullopt;
  const ValueScale scale = scale_over(sweep);
  if (scale.is_empty()) return std::nullopt;
  SweepCurve curve = curve_over(sweep, scale);
  for (const PlacedValue& at : placed_values(sweep)) {
    curve.points.push_back(curve_point(sweep, at, scale));
  }
  return curve;
}

std::optional<SweepCurve> sweep_ranking(const state::ShownSweep& sweep) {
  const ValueScale scale = scale_over(sweep);
  if (scale.is_empty()) return std::nullopt;
  SweepCurve ranking = curve_over(sweep, scale);
  std::vector<std::size_t> order = sweep.best_first;
  if (order.empty()) {
    order.resize(sweep.points.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
  }
  for (const std::size_t i : order) {
    SweepCurve::Point ranked = curve_point(sweep, {.point = i, .number = {}}, scale);
    if (!ranked.measured && !ranked.predicted && ranked.runs.empty()) continue;
    ranked.label = sweep_point_label(sweep, i);
    ranking.points.push_back(std::move(ranked));
  }
  if (!sweep.best_first.empty()) return ranking;
  std::ranges::stable_sort(ranking.points, {}, [&](const SweepCurve::Point& point) {
    const bool has_failed = sweep.points[point.point].standing == state::SweepStanding::kFailed;
    const auto& shown = point.measured ? point.measured : point.predicted;
    return std::tuple(has_failed, !point.measured, shown ? shown->y : point.runs.front());
  });
  return ranking;
}

}  // namespace shardlens::ui::present
