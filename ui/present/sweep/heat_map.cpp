#include "ui/present/sweep/heat_map.h"

#include <algorithm>
#include <limits>

#include "trace/timeline/words/interval_text.h"
#include "ui/present/format.h"
#include "ui/present/sweep/sweep_words.h"

namespace shardlens::ui::present {

namespace {

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
  HeatMap::Cell cell{
      .point = index, .text = cell_text(sweep, point), .interval = {}, .shade = {}, .mark = {}};
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

}  // namespace

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

}  // namespace shardlens::ui::present
