#include "app/search/search.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "trace/analysis/noise/student_t.h"

namespace shardlens::app::search {
namespace {

double cumulative_normal(double z) { return std::erfc(-z / std::numbers::sqrt2) / 2; }
double normal_density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }

// Expected gain, in units of cost.
double promise_of(const Belief& point, const Belief& best) {
  const double ahead = *best.cost - point.expected(*best.cost);
  const double deviation = std::hypot(point.own_deviation(), best.deviation);
  const double z = ahead / deviation;
  return ahead * cumulative_normal(z) + deviation * normal_density(z);
}

std::optional<Choice> most_promising(const std::vector<Belief>& beliefs, std::size_t best) {
  std::optional<Choice> choice;
  double highest = 0;
  for (std::size_t i = 0; i < beliefs.size(); ++i) {
    const Belief& point = beliefs[i];
    if (!point.may_win()) continue;
    const double promise = promise_of(point, beliefs[best]);
    if (promise <= highest) continue;
    highest = promise;
    choice = Choice{{i, 0}, point.cost ? Why::kPromising : Why::kUnknown, point.predicted};
  }
  return choice;
}

std::optional<int> free_round(const sweep::SweepResults& results, std::size_t point) {
  for (int round = 0; round < kRounds; ++round) {
    if (!results.contains({point, round})) return round;
  }
  return std::nullopt;
}

// The best and the start in turns until each has run so often, so that drift meets both.
std::optional<Choice> confirmation(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                                   const std::vector<Belief>& beliefs, std::size_t best) {
  if (best == sweep::kSearchStart) return std::nullopt;
  const bool base_is_behind = beliefs[sweep::kSearchStart].runs < beliefs[best].runs;
  const std::size_t point = base_is_behind ? sweep::kSearchStart : best;
  if (beliefs[point].runs >= kRounds || beliefs[point].has_failed) return std::nullopt;
  const auto round = free_round(results, point);
  if (!round) return std::nullopt;
  return Choice{{point, *round}, Why::kConfirms, std::nullopt};
}

// So many runs confirmation() asks for once a point that has not run yet has become the best.
int runs_to_confirm_another(const Belief& base) {
  const int of_base = base.has_failed ? 0 : std::max(kRounds - base.runs, 0);
  return kRounds - 1 + of_base;
}

// The start once more, as soon as another point has run: it will be needed to tell the gain, tells
// what runs of the same settings differ by, and all predictions hang on it.
std::optional<Choice> second_start(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                                   const std::vector<Belief>& beliefs) {
  const bool has_tried = std::ranges::any_of(beliefs, [&](const Belief& belief) {
    return belief.runs > 0 && &belief != &beliefs[sweep::kSearchStart];
  });
  const Belief& base = beliefs[sweep::kSearchStart];
  if (!has_tried || base.runs != 1 || base.has_failed) return std::nullopt;
  const auto round = free_round(results, sweep::kSearchStart);
  if (!round) return std::nullopt;
  return Choice{{sweep::kSearchStart, *round}, Why::kConfirms, std::nullopt};
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

Decision decide(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                const std::vector<Belief>& beliefs, double seconds_left) {
  const Belief& base = beliefs[sweep::kSearchStart];
  if (base.runs == 0 && base.has_failed) return {std::nullopt, Ending::kNoResult};
  if (base.runs == 0) return {Choice{{sweep::kSearchStart, 0}, Why::kStart, std::nullopt}, {}};
  // It was measured, but failed when it ran again before anything else had.
  const auto found = best_of(beliefs);
  if (!found) return {std::nullopt, Ending::kNoResult};
  const std::size_t best = *found;
  const double seconds = mean_seconds(results);
  auto choice = most_promising(beliefs, best);
  // A point that wins is confirmed in the end, and to confirm the best so far takes no more runs.
  if (choice && seconds_left >= seconds * (1 + runs_to_confirm_another(base))) {
    const auto again = second_start(plan, results, beliefs);
    return {again ? again : choice, {}};
  }
  const bool had_no_time = choice.has_value();
  choice = confirmation(plan, results, beliefs, best);
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

namespace {

constexpr double kMiss = 0.05;  // of a 95 % interval

struct Mean {
  double cost = 0;
  int runs = 0;
};

Mean mean_cost(const sweep::SweepPlan& plan, const sweep::SweepResults& results, std::size_t point,
               int first_round) {
  Mean mean;
  for (const auto& [slot, result] : results) {
    if (slot.point != point || slot.round < first_round || !result.measure) continue;
    const auto cost = cost_of(*result.measure, plan.search->goal);
    if (!cost) continue;
    mean.cost = (mean.cost * mean.runs + *cost) / (mean.runs + 1);
    ++mean.runs;
  }
  return mean;
}

// Each of them had its chance to look better than the start (Bonferroni).
int confirmed_points(const sweep::SweepPlan& plan, const std::vector<Belief>& beliefs) {
  int count = 0;
  for (std::size_t i = 0; i < beliefs.size(); ++i) {
    count += i != sweep::kSearchStart && beliefs[i].runs > 1 ? 1 : 0;
  }
  return count;
}

}  // namespace

std::optional<Outcome> outcome_of(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                                  const std::vector<Belief>& beliefs) {
  const auto best = best_of(beliefs);
  const Mean base = mean_cost(plan, results, sweep::kSearchStart, 0);
  if (!best || base.runs == 0) return std::nullopt;
  Outcome outcome;
  outcome.best = *best;
  outcome.base_cost = base.cost;
  outcome.base_runs = base.runs;
  Mean found = *best == sweep::kSearchStart ? Mean{} : mean_cost(plan, results, *best, 1);
  outcome.leaves_choice_out = found.runs > 0;
  if (found.runs == 0) found = mean_cost(plan, results, *best, 0);
  for (std::size_t i = 0; i < beliefs.size(); ++i) {
    if (i != sweep::kSearchStart && beliefs[i].runs > 0) ++outcome.others;
  }
  outcome.best_cost = found.cost;
  outcome.best_runs = found.runs;
  if (*best == sweep::kSearchStart) return outcome;
  outcome.change = found.cost / base.cost - 1;
  const auto spread = spread_between_runs(plan, results);
  if (spread.degrees_of_freedom < 1) return outcome;
  const double error = spread.deviation * std::sqrt(1.0 / found.runs + 1.0 / base.runs);
  const double miss = kMiss / std::max(confirmed_points(plan, beliefs), 1);
  outcome.half_width = trace::analysis::student_t_quantile(miss, spread.degrees_of_freedom) *
                       error * (1 + *outcome.change);
  return outcome;
}

}  // namespace shardlens::app::search
