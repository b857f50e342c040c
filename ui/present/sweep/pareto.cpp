#include "ui/present/sweep/pareto.h"

#include <algorithm>
#include <numeric>

#include "trace/analysis/run/comparison.h"
#include "ui/present/sweep/sweep_words.h"

namespace shardlens::ui::present {

namespace {

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
