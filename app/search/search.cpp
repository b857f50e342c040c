#include "app/search/search.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace shardlens::app::search {
namespace {

// Of a run's cost, until runs of the same point tell it: `bench predict` on the project's machines.
constexpr double kUsualNoise = 0.03, kUsualMemoryNoise = 0.005;
constexpr double kLeastFreedom = 2;
// How far a point that nothing is predicted of may lie from those that are most like it.
constexpr double kUnknownDeviation = 0.1;
constexpr double kWorthARun = 0.05;  // probability to win beyond noise
constexpr int kConfirmations = 2;    // more runs of the best and of the start

double cumulative_normal(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }
double normal_density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }

struct MeasuredPoint {
  int runs = 0;
  double cost = 0;  // mean
  bool has_failed = false;
  const sweep::SlotResult* first = nullptr;
};

std::vector<MeasuredPoint> measured_points(const SearchJob& job,
                                           const sweep::SweepResults& results) {
  std::vector<MeasuredPoint> points(job.plan->points.settings.size());
  for (const auto& [slot, result] : results) {
    MeasuredPoint& point = points[slot.point];
    const auto cost = result.measure ? cost_of(*result.measure, job.goal) : std::nullopt;
    if (!cost) {
      point.has_failed = true;
      continue;
    }
    if (point.runs == 0) point.first = &result;
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
std::vector<double> costs_of_most_alike(const SearchJob& job,
                                        const std::vector<MeasuredPoint>& measured,
                                        std::size_t point) {
  std::size_t fewest = job.plan->points.varied.size() + 1;
  std::vector<double> costs;
  for (std::size_t other = 0; other < measured.size(); ++other) {
    if (measured[other].runs == 0 || other == point) continue;
    const std::size_t differing = differing_knobs(job.plan->points, point, other);
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
  const double mean = std::accumulate(costs.begin(), costs.end(), 0.0) / count;
  double squares = 0;
  for (const double cost : costs) squares += (cost - mean) * (cost - mean);
  belief.alike = mean;
  belief.alike_deviation =
      std::hypot(kUnknownDeviation * mean, std::sqrt(squares / std::max(count - 1, 1.0)));
}

// Of `point`, from whichever run of another one tells most exactly.
Belief predicted(const std::vector<MeasuredPoint>& measured, std::size_t point,
                 const ForecastFrom& forecast, const SearchJob& job) {
  Belief belief;
  for (std::size_t source = 0; source < measured.size(); ++source) {
    if (source == point || measured[source].first == nullptr) continue;
    const Forecast told = forecast({source, measured[source].first}, point);
    if (told.peak_bytes && job.usable_bytes > 0) {
      belief.fits = belief.fits && *told.peak_bytes <= job.usable_bytes;
    }
    if (!told.cost) {
      if (belief.refused.empty()) belief.refused = told.refused;
    } else if (!belief.cost || told.deviation < belief.deviation) {
      belief.cost = told.cost;
      belief.deviation = told.deviation;
      belief.from = measured[source].first->run;
    }
  }
  if (belief.cost) {
    belief.refused.clear();
  } else {
    compare_with_alike(costs_of_most_alike(job, measured, point), belief);
  }
  return belief;
}

// What predictions were off by beyond what they and the noise explain, as a share of the cost, of
// points that were measured since: the method of moments (DerSimonian and Laird 1986).
double unexplained(const std::vector<MeasuredPoint>& measured,
                   const std::vector<Belief>& predictions, double noise) {
  double sum = 0;
  int count = 0;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    if (measured[i].runs == 0 || !predictions[i].cost) continue;
    const double error = measured[i].cost - *predictions[i].cost;
    sum += (error * error - predictions[i].deviation * predictions[i].deviation) /
               (measured[i].cost * measured[i].cost) -
           noise * noise / measured[i].runs;
    ++count;
  }
  return count == 0 ? 0 : std::sqrt(std::max(0.0, sum / count));
}

struct Promise {
  double gain = 0;         // expected, of cost
  double probability = 0;  // to win beyond noise
};

Promise promise_of(const Belief& point, const Belief& best, double noise) {
  const double cost = point.cost ? *point.cost : point.alike.value_or(*best.cost);
  const double own = point.cost ? point.deviation : point.alike_deviation;
  const double deviation = std::hypot(own, best.deviation);
  const double ahead = *best.cost - cost;
  const double z = ahead / deviation;
  return {ahead * cumulative_normal(z) + deviation * normal_density(z),
          cumulative_normal((ahead - noise * *best.cost) / deviation)};
}

std::optional<Choice> most_promising(const std::vector<Belief>& beliefs, std::size_t best,
                                     double noise) {
  std::optional<Choice> choice;
  double highest = 0;
  for (std::size_t i = 0; i < beliefs.size(); ++i) {
    const Belief& point = beliefs[i];
    if (point.runs > 0 || point.has_failed || !point.fits) continue;
    const Promise promise = promise_of(point, beliefs[best], noise);
    if (promise.probability < kWorthARun || promise.gain <= highest) continue;
    highest = promise.gain;
    choice = Choice{{i, 0}, point.cost ? Why::kPromising : Why::kUnknown, point.cost};
  }
  return choice;
}

std::optional<int> free_round(const sweep::SweepResults& results, std::size_t point) {
  for (int round = 0; round < kRounds; ++round) {
    if (!results.contains({point, round})) return round;
  }
  return std::nullopt;
}

// The best and the start in turns, so that drift meets both.
std::optional<Choice> confirmation(const SearchJob& job, const sweep::SweepResults& results,
                                   const std::vector<Belief>& beliefs, std::size_t best) {
  if (best == job.base) return std::nullopt;
  const bool base_is_behind = beliefs[job.base].runs < beliefs[best].runs;
  const std::size_t point = base_is_behind ? job.base : best;
  if (beliefs[point].runs > kConfirmations || beliefs[point].has_failed) return std::nullopt;
  const auto round = free_round(results, point);
  if (!round) return std::nullopt;
  return Choice{{point, *round}, Why::kConfirms, std::nullopt};
}

double noise_between_runs(const SearchJob& job, const sweep::SweepResults& results) {
  const auto spread = spread_between_runs(job, results);
  if (spread.degrees_of_freedom >= kLeastFreedom) return spread.deviation;
  return job.goal == Goal::kMemory ? kUsualMemoryNoise : kUsualNoise;
}

double mean_seconds(const sweep::SweepResults& results) {
  double sum = 0;
  int count = 0;
  for (const auto& [slot, result] : results) {
    if (!result.measure) continue;
    sum += result.measure->seconds;
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

}  // namespace

trace::analysis::RelativeSpread spread_between_runs(const SearchJob& job,
                                                    const sweep::SweepResults& results) {
  std::vector<trace::analysis::RoundValue> values;
  for (const auto& [slot, result] : results) {
    const auto cost = result.measure ? cost_of(*result.measure, job.goal) : std::nullopt;
    if (cost) values.push_back({slot.point, static_cast<std::size_t>(slot.round), *cost});
  }
  return trace::analysis::RoundNoise(std::move(values)).between_runs();
}

std::vector<Belief> beliefs_of(const SearchJob& job, const sweep::SweepResults& results,
                               const ForecastFrom& forecast) {
  const auto measured = measured_points(job, results);
  const double noise = noise_between_runs(job, results);
  std::vector<Belief> beliefs;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    beliefs.push_back(predicted(measured, i, forecast, job));
  }
  const double off_by = unexplained(measured, beliefs, noise);
  for (std::size_t i = 0; i < measured.size(); ++i) {
    Belief& belief = beliefs[i];
    belief.deviation = std::hypot(belief.deviation, off_by * belief.cost.value_or(0));
    belief.has_failed = measured[i].has_failed;
    if (measured[i].runs == 0) continue;
    belief = {};
    belief.runs = measured[i].runs;
    belief.has_failed = measured[i].has_failed;
    belief.cost = measured[i].cost;
    belief.deviation = noise * measured[i].cost / std::sqrt(measured[i].runs);
  }
  return beliefs;
}

std::optional<std::size_t> best_of(const std::vector<Belief>& beliefs) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < beliefs.size(); ++i) {
    if (beliefs[i].runs == 0 || beliefs[i].has_failed) continue;
    if (!best || *beliefs[i].cost < *beliefs[*best].cost) best = i;
  }
  return best;
}

Decision decide(const SearchJob& job, const sweep::SweepResults& results,
                const std::vector<Belief>& beliefs, double seconds_left) {
  const Belief& base = beliefs[job.base];
  if (base.has_failed) return {std::nullopt, Ending::kNoResult};
  if (base.runs == 0) return {Choice{{job.base, 0}, Why::kStart, std::nullopt}, {}};
  const std::size_t best = *best_of(beliefs);
  const double noise = noise_between_runs(job, results);
  const double seconds = mean_seconds(results);
  // What is found first is confirmed in the end: a budget that does not hold that finds less.
  const double reserve = 2 * kConfirmations * seconds;
  auto choice = most_promising(beliefs, best, noise);
  if (choice && seconds_left >= seconds + reserve) return {choice, {}};
  const bool had_no_time = choice.has_value();
  choice = confirmation(job, results, beliefs, best);
  if (choice && seconds_left >= seconds) return {choice, {}};
  return {std::nullopt, choice || had_no_time ? Ending::kNoTime : Ending::kSettled};
}

std::string_view to_string(Ending ending) {
  switch (ending) {
    case Ending::kSettled:
      return "settled";
    case Ending::kNoTime:
      return "no_time";
    case Ending::kNoResult:
      break;
  }
  return "no_result";
}

}  // namespace shardlens::app::search
