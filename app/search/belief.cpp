#include "app/search/belief.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <tuple>

#include "trace/analysis/noise/noise_model.h"
#include "trace/base/median.h"

namespace shardlens::app::search {
namespace {

// How much a run's cost scatters, until runs of the same point tell it; measured by `bench predict`
// on the project's machines.
constexpr double kUsualNoise = 0.03, kUsualMemoryNoise = 0.005;
constexpr double kUsualFreedom = 2;          // what that weighs, in degrees of freedom
constexpr double kMedianOfSquares = 0.4549;  // of a standard normal: the median of chi-squared, 1
// How far a point that nothing is predicted of may lie from those that are most like it.
constexpr double kUnknownDeviation = 0.1;
constexpr double kLeastDeviation = 1e-3;

struct MeasuredPoint {
  int runs = 0;
  double cost = 0;  // mean
  bool has_failed = false;
  std::vector<const sweep::SlotResult*> sources;  // its measured runs
};

std::vector<MeasuredPoint> measured_points(const sweep::SweepPlan& plan,
                                           const sweep::SweepResults& results) {
  std::vector<MeasuredPoint> points(plan.points.settings.size());
  for (const auto& [slot, result] : results) {
    MeasuredPoint& point = points[slot.point];
    const auto cost = result.measure ? cost_of(*result.measure, plan.search->goal) : std::nullopt;
    if (!cost) {
      point.has_failed = true;
      continue;
    }
    point.sources.push_back(&result);
    point.cost = (point.cost * point.runs + *cost) / (point.runs + 1);
    ++point.runs;
  }
  return points;
}

std::size_t differing_knobs(const sweep::SweepPoints& points, std::size_t a, std::size_t b) {
  return static_cast<std::size_t>(std::ranges::count_if(points.varied, [&](const auto* knob) {
    return value_text(points.settings[a], *knob) != value_text(points.settings[b], *knob);
  }));
}

// Costs of those that were measured and differ from `point` in the fewest knobs.
std::vector<double> costs_of_most_alike(const sweep::SweepPlan& plan,
                                        const std::vector<MeasuredPoint>& measured,
                                        std::size_t point) {
  std::size_t fewest = plan.points.varied.size() + 1;
  std::vector<double> costs;
  for (std::size_t other = 0; other < measured.size(); ++other) {
    if (measured[other].runs == 0 || other == point) continue;
    const std::size_t differing = differing_knobs(plan.points, point, other);
    if (differing > fewest) continue;
    if (differing < fewest) costs.clear();
    fewest = differing;
    costs.push_back(measured[other].cost);
  }
  return costs;
}

void compare_with_alike(const std::vector<double>& costs, Belief& belief) {
  if (costs.empty()) return;
  const auto count = static_cast<double>(costs.size());
  const double mean = trace::base::mean_of(costs);
  double squares = 0;
  for (const double cost : costs) squares += (cost - mean) * (cost - mean);
  belief.alike = mean;
  belief.alike_deviation =
      std::hypot(kUnknownDeviation * mean, std::sqrt(squares / std::max(count - 1, 1.0)));
}

// What a run of another point predicts of a point.
struct Told {
  double cost = 0, deviation = 0;
  std::string from;
};

// The weighted median, which one run that something disturbed does not move; the more exactly a run
// tells, the more it weighs.
const Told& middle_of(std::vector<Told>& told) {
  std::ranges::stable_sort(told, {}, &Told::cost);
  const auto weight = [](const Told& each) {
    const double least = kLeastDeviation * each.cost;  // nobody is surer than that
    return 1 / std::pow(std::max(each.deviation, least), 2);
  };
  double half = 0;
  for (const Told& each : told) half += weight(each) / 2;
  for (const Told& each : told) {
    half -= weight(each);
    if (half <= 0) return each;
  }
  return told.back();
}

// What all runs of other points predict of `point`.
Belief predicted(const std::vector<MeasuredPoint>& measured, std::size_t point,
                 const ForecastFrom& forecast, const sweep::SweepPlan& plan) {
  Belief belief;
  bool needs_no_more = false;
  std::vector<Told> told;
  for (std::size_t source = 0; source < measured.size(); ++source) {
    if (source == point) continue;
    for (const auto* run : measured[source].sources) {
      const Forecast one = forecast({source, run}, point);
      belief.fits = belief.fits && one.fits != false;
      needs_no_more = needs_no_more || one.needs_no_more;
      if (one.cost) told.push_back({*one.cost, one.deviation, run->run});
      if (!one.cost && belief.refused.empty()) belief.refused = one.refused;
    }
  }
  belief.fits = belief.fits || needs_no_more;
  if (told.empty()) {
    compare_with_alike(costs_of_most_alike(plan, measured, point), belief);
    return belief;
  }
  const Told& middle = middle_of(told);
  belief.cost = middle.cost;
  belief.from = middle.from;
  belief.deviation = std::ranges::min(told, {}, &Told::deviation).deviation;
  belief.refused.clear();
  return belief;
}

// What predictions were off by beyond what they and the noise explain, as a share of the cost, of
// points that were measured since. By the median of squares, which for a normal error is 0.4549 of
// their mean, so that one disturbed run does not make all predictions worthless.
double unexplained(const std::vector<MeasuredPoint>& measured,
                   const std::vector<Belief>& predictions, double noise) {
  std::vector<double> squares;
  double explained = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (measured[i].runs == 0 || !predictions[i].cost) continue;
    const double cost = measured[i].cost;
    squares.push_back(std::pow((cost - *predictions[i].cost) / cost, 2));
    explained += std::pow(predictions[i].deviation / cost, 2) + noise * noise / measured[i].runs;
  }
  if (squares.empty()) return 0;
  std::ranges::sort(squares);
  const double median = trace::base::quantile(squares, 0.5);
  return std::sqrt(
      std::max(0.0, median / kMedianOfSquares - explained / static_cast<double>(squares.size())));
}

double chance_of(const Belief& point, const Belief& best, double noise) {
  const double ahead = *best.cost - point.expected(*best.cost) - noise * *best.cost;
  const double z = ahead / std::hypot(point.own_deviation(), best.deviation);
  return std::erfc(-z / std::numbers::sqrt2) / 2;
}

double noise_between_runs(const sweep::SweepPlan& plan, const sweep::SweepResults& results) {
  const double usual = plan.search->goal == Goal::kMemory ? kUsualMemoryNoise : kUsualNoise;
  const auto spread = spread_between_runs(plan, results);
  const double freedom = std::max<double>(spread.degrees_of_freedom, 0);
  if (freedom < 1) return usual;
  return std::sqrt((kUsualFreedom * usual * usual + freedom * spread.deviation * spread.deviation) /
                   (kUsualFreedom + freedom));
}

trace::analysis::RoundNoise noise_of(const sweep::SweepPlan& plan,
                                     const sweep::SweepResults& results) {
  return sweep::noise_of(plan, results, plan.search->goal, sweep::kMostRepeats);
}

void tell_noise(const trace::analysis::RoundNoise& noise, std::vector<Belief>& beliefs) {
  for (std::size_t i = 0; i < beliefs.size(); ++i) {
    const auto half_width = beliefs[i].runs > 0 ? noise.half_width(i) : std::nullopt;
    if (half_width && *half_width < 1) beliefs[i].half_width = *half_width * *beliefs[i].cost;
  }
}

// What was predicted of the point before its first run.
std::optional<sweep::PredictedCost> kept_prediction(const sweep::SweepResults& results,
                                                    std::size_t point) {
  for (const auto& [slot, result] : results) {
    if (slot.point == point && result.predicted) return result.predicted;
  }
  return std::nullopt;
}

}  // namespace

trace::analysis::RelativeSpread spread_between_runs(const sweep::SweepPlan& plan,
                                                    const sweep::SweepResults& results) {
  return noise_of(plan, results).between_runs();
}

std::vector<Belief> beliefs_of(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                               const ForecastFrom& forecast) {
  const auto measured = measured_points(plan, results);
  const double noise = noise_between_runs(plan, results);
  std::vector<Belief> beliefs;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    beliefs.push_back(predicted(measured, i, forecast, plan));
  }
  const double off_by = unexplained(measured, beliefs, noise);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    Belief& belief = beliefs[i];
    belief.deviation = std::hypot(belief.deviation, off_by * belief.cost.value_or(0));
    belief.has_failed = measured[i].has_failed;
    if (belief.cost) belief.predicted = {*belief.cost, kDeviationsOf95 * belief.deviation};
    if (measured[i].has_failed) belief.predicted = kept_prediction(results, i);
    if (measured[i].runs == 0) continue;
    belief = {};
    belief.predicted = kept_prediction(results, i);
    belief.runs = measured[i].runs;
    belief.has_failed = measured[i].has_failed;
    belief.cost = measured[i].cost;
    belief.deviation = noise * measured[i].cost / std::sqrt(measured[i].runs);
  }
  const auto best = best_of(beliefs);
  if (!best) return beliefs;
  tell_noise(noise_of(plan, results), beliefs);
  for (Belief& belief : beliefs) {
    const bool is_open = belief.runs == 0 && !belief.has_failed && belief.fits;
    if (is_open) belief.chance = chance_of(belief, beliefs[*best], noise);
  }
  return beliefs;
}

std::vector<std::optional<bool>> behind(const sweep::SweepPlan& plan,
                                        const sweep::SweepResults& results, std::size_t best) {
  const auto noise = noise_of(plan, results);
  std::vector<std::optional<bool>> behind(plan.points.settings.size());
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < behind.size(); ++i) {
    if (i != best && noise.level(i)) others.push_back(i);
  }
  const double claims =
      trace::analysis::kFalseClaims / static_cast<double>(std::max<std::size_t>(others.size(), 1));
  for (const std::size_t i : others) {
    const auto difference = noise.difference(i, best, claims);
    if (difference) behind[i] = difference->low > 0;
  }
  return behind;
}

std::vector<std::size_t> best_first(const std::vector<Belief>& beliefs) {
  std::vector<std::size_t> order(beliefs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    const Belief& belief = beliefs[i];
    const bool has_run = belief.runs > 0 || belief.has_failed;
    return std::tuple(!has_run, belief.has_failed,
                      belief.cost.value_or(std::numeric_limits<double>::infinity()));
  });
  return order;
}

std::optional<std::size_t> best_of(const std::vector<Belief>& beliefs) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < beliefs.size(); ++i) {
    if (beliefs[i].runs == 0 || beliefs[i].has_failed) continue;
    if (!best || *beliefs[i].cost < *beliefs[*best].cost) best = i;
  }
  return best;
}

}  // namespace shardlens::app::search
