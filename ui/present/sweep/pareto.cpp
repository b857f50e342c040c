#include "ui/present/sweep/pareto.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ui/present/axis.h"
#include "ui/present/format.h"
#include "ui/present/sweep/sweep_words.h"

namespace shardlens::ui::present {

namespace {

constexpr double kParetoMargin = 0.1;  // of the range, to each side
constexpr double kLeastParetoRange = 0.01;
constexpr int kParetoTicks = 5;

struct LinearScale {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  void settle() {
    const double middle = (low + high) / 2;
    const double half = std::max(high - low, kLeastParetoRange * middle) * (0.5 + kParetoMargin);
    low = std::max(0.0, middle - half);
    high = middle + half;
  }
  float of(double value) const { return static_cast<float>((value - low) / (high - low)); }
};

double time_of(const state::ShownSweep& sweep, const state::SweepPoint& point) {
  return sweep.by_tokens ? 1e9 / point.tokens_per_s.value_or(1) : *point.step_ns;
}

bool has_both(const state::ShownSweep& sweep, const state::SweepPoint& point) {
  return point.step_ns && point.peak_memory_bytes && *point.peak_memory_bytes > 0 &&
         (!sweep.by_tokens || point.tokens_per_s.value_or(0) > 0);
}

std::vector<ParetoChart::Tick> memory_ticks(const LinearScale& scale) {
  std::vector<ParetoChart::Tick> ticks;
  const double step = nice_binary_step(scale.high - scale.low, kParetoTicks);
  for (double at = std::ceil(scale.low / step) * step; at <= scale.high; at += step) {
    ticks.push_back({scale.of(at), format_bytes(at).text()});
  }
  return ticks;
}

std::vector<ParetoChart::Tick> time_ticks(const LinearScale& scale) {
  std::vector<ParetoChart::Tick> ticks;
  const auto unit = duration_unit(scale.high);
  for (const double at : nice_ticks(scale.low, scale.high, kParetoTicks)) {
    ticks.push_back({scale.of(at), format_duration_in(at, unit).text()});
  }
  return ticks;
}

}  // namespace

std::vector<std::size_t> pareto_front(const std::vector<std::pair<double, double>>& points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return points[i]; });
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {
    // Of equal memory the fastest comes first; its equals follow it.
    if (front.empty() || points[i].second < points[front.back()].second ||
        points[i] == points[front.back()]) {
      front.push_back(i);
    }
  }
  return front;
}

std::optional<ParetoChart> pareto_chart(const state::ShownSweep& sweep) {
  ParetoChart chart;
  chart.by_tokens = sweep.by_tokens;
  LinearScale memory, time;
  std::vector<std::pair<double, double>> both;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const state::SweepPoint& point = sweep.points[i];
    if (!has_both(sweep, point)) continue;
    both.emplace_back(*point.peak_memory_bytes, time_of(sweep, point));
    memory.add(both.back().first);
    time.add(both.back().second);
    chart.points.push_back({.point = i, .label = sweep_point_label(sweep, i)});
  }
  if (chart.points.size() < 2) return std::nullopt;
  memory.settle();
  time.settle();
  for (std::size_t i = 0; i < both.size(); ++i) {
    chart.points[i].x = memory.of(both[i].first);
    chart.points[i].y = time.of(both[i].second);
  }
  chart.front = pareto_front(both);
  for (const std::size_t i : chart.front) chart.points[i].is_on_front = true;
  chart.memory_ticks = memory_ticks(memory);
  chart.time_ticks = time_ticks(time);
  return chart;
}

}  // namespace shardlens::ui::present
