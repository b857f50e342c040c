#include "ui/present/sweep/sweep_charts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "trace/analysis/run/comparison.h"
#include "trace/timeline/words/interval_text.h"
#include "ui/present/format.h"
#include "ui/present/sweep/sweep_words.h"

namespace shardlens::ui::present {

namespace {

constexpr double kDecade = 10;
constexpr double kLeastSpan = 0.02;  // of the step time: less would show noise as a mountain
constexpr double kAround = 0.08;     // of the span, above and below
constexpr int kMostSweepTicks = 6;

struct PlacedValue {
  std::size_t point = 0;
  std::optional<double> number{};
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
  SweepCurve::Point point{.point = at.point, .label = from.values.front(), .x = at.x};
  if (cost.measured) {
    point.measured = {.y = scale.of(*cost.measured)};
    if (cost.half_width) {
      point.measured->low = scale.of(std::max(*cost.measured - *cost.half_width, 0.0));
      point.measured->high = scale.of(*cost.measured + *cost.half_width);
    }
  }
  if (cost.predicted) {
    point.predicted = {.y = scale.of(*cost.predicted)};
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

// Of one of the knobs, each once: numbers in their order, other values as they come.
std::vector<std::string> values_along(const state::ShownSweep& sweep, std::size_t knob) {
  std::vector<std::string> values;
  for (const state::SweepPoint& point : sweep.points) {
    if (std::ranges::find(values, point.values[knob]) == values.end()) {
      values.push_back(point.values[knob]);
    }
  }
  std::ranges::stable_sort(values, {}, [](const std::string& value) {
    return number_in(value).value_or(std::numeric_limits<double>::infinity());
  });
  return values;
}

std::string interval_text(const state::ShownSweep& sweep, const state::SweepPoint& point) {
  using trace::timeline::spread_text;
  const auto share = [](double part) { return format_percent(part).text(); };
  if (point.searched) {
    const state::PointCost& cost = *point.searched;
    if (!cost.measured || !cost.half_width) return "";
    return spread_text(1, *cost.half_width / *cost.measured, share);
  }
  if (!point.step_ns || !point.half_width_ns) return "";
  if (sweep.by_tokens) return spread_text(1, *point.half_width_ns / *point.step_ns, share);
  const auto unit = duration_unit(*point.step_ns);
  return spread_text(*point.step_ns, *point.half_width_ns,
                     [unit](double ns) { return format_duration_in(ns, unit).text(); });
}

std::string cell_text(const state::ShownSweep& sweep, const state::SweepPoint& point) {
  if (point.standing == state::SweepStanding::kFailed) return "failed";
  if (point.searched && point.searched->measured) {
    return search_quantity(sweep, *point.searched->measured).text();
  }
  if (sweep.by_tokens && point.tokens_per_s) {
    return format_rate(*point.tokens_per_s, "tok/s").text();
  }
  if (point.step_ns) return format_duration(*point.step_ns).text();
  return predicted_text(sweep, point);
}

struct CostRange {
  double low = std::numeric_limits<double>::infinity(), high = 0;
};

CostRange range_of_costs(const state::ShownSweep& sweep) {
  CostRange range;
  for (const state::SweepPoint& point : sweep.points) {
    if (const auto cost = point_cost(sweep, point).measured) {
      range.low = std::min(range.low, *cost);
      range.high = std::max(range.high, *cost);
    }
  }
  return range;
}

HeatMap::Cell heat_cell(const state::ShownSweep& sweep, std::size_t index, const CostRange& range) {
  const state::SweepPoint& point = sweep.points[index];
  HeatMap::Cell cell{.point = index, .text = cell_text(sweep, point)};
  if (sweep.best == index) cell.mark = best_mark(sweep);
  if (const auto cost = point_cost(sweep, point).measured) {
    cell.interval = interval_text(sweep, point);
    const double share =
        range.high > range.low ? (*cost - range.low) / (range.high - range.low) : 0;
    cell.shade = static_cast<float>(share);
  } else {
    cell.is_prediction =
        !predicted_text(sweep, point).empty() && point.standing != state::SweepStanding::kFailed;
  }
  return cell;
}

constexpr double kParetoMargin = 0.1;  // of the range, to each side
// Of what is shown. Equal memory is spread no further than its labels tell apart.
constexpr double kLeastTimeRange = 0.01, kLeastMemoryRange = 0.1;
constexpr int kParetoTicks = 5;

bool has_both(const state::ShownSweep& sweep, const state::SweepPoint& point) {
  return point.standing != state::SweepStanding::kFailed && point.step_ns &&
         point.peak_tensor_bytes && *point.peak_tensor_bytes > 0 &&
         cost_per_step_time(sweep, point);
}

// Memory and time, of a point that has both.
std::pair<double, double> place_of(const state::ShownSweep& sweep, const state::SweepPoint& point) {
  return {*point.peak_tensor_bytes, *cost_per_step_time(sweep, point) * *point.step_ns};
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
    SweepCurve::Point ranked = curve_point(sweep, {.point = i}, scale);
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

std::optional<HeatMap> heat_map(const state::ShownSweep& sweep) {
  if (sweep.varied.size() != 2 || sweep.points.empty()) return std::nullopt;
  HeatMap map;
  map.columns = values_along(sweep, 0);
  map.rows = values_along(sweep, 1);
  if (2 * sweep.points.size() < map.rows.size() * map.columns.size()) return std::nullopt;
  map.cells.resize(map.rows.size() * map.columns.size());
  const CostRange range = range_of_costs(sweep);
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const auto& values = sweep.points[i].values;
    const auto column = std::ranges::find(map.columns, values[0]) - map.columns.begin();
    const auto row = std::ranges::find(map.rows, values[1]) - map.rows.begin();
    map.cells[static_cast<std::size_t>(row) * map.columns.size() +
              static_cast<std::size_t>(column)] = heat_cell(sweep, i, range);
  }
  return map;
}

std::vector<std::size_t> pareto_line(const std::vector<std::pair<double, double>>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return points[i]; });
  std::vector<std::size_t> line;
  for (const std::size_t i : order) {
    if (!line.empty() && points[i].second >= points[line.back()].second) continue;
    const bool replaces =
        !line.empty() && trace::analysis::is_same_memory(points[line.back()].first, points[i].first,
                                                         points[i].first);
    if (replaces) line.pop_back();
    line.push_back(i);
  }
  return line;
}

std::optional<ParetoChart> pareto_chart(const state::ShownSweep& sweep) {
  ParetoChart chart;
  chart.by_tokens = sweep.by_tokens;
  ValueScale memory(kLeastMemoryRange, kParetoMargin), time(kLeastTimeRange, kParetoMargin);
  std::vector<std::pair<double, double>> places, on_front;
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const state::SweepPoint& point = sweep.points[i];
    if (!has_both(sweep, point)) continue;
    const auto& place = places.emplace_back(place_of(sweep, point));
    memory.add(place.first);
    time.add(place.second);
    if (point.is_on_front) {
      front.push_back(chart.points.size());
      on_front.push_back(place);
    }
    chart.points.push_back(
        {.point = i, .label = sweep_point_label(sweep, i), .is_on_front = point.is_on_front});
  }
  if (chart.points.size() < 2) return std::nullopt;
  memory.settle();
  time.settle();
  for (std::size_t i = 0; i < places.size(); ++i) {
    chart.points[i].x = memory.of(places[i].first);
    chart.points[i].y = time.of(places[i].second);
  }
  for (const std::size_t i : pareto_line(on_front)) chart.line.push_back(front[i]);
  chart.memory_ticks = size_ticks(memory, kParetoTicks);
  chart.time_ticks = time_ticks(time, kParetoTicks);
  return chart;
}

}  // namespace shardlens::ui::present
