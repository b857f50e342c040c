#include "app/search/search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "trace/analysis/noise/student_t.h"
#include "trace/base/median.h"
#include "trace/base/text.h"

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
std::optional<Choice> confirmation(const sweep::SweepResults& results,
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
std::optional<Choice> second_start(const sweep::SweepResults& results,
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

}  // namespace

Decision decide(const sweep::SweepResults& results, const std::vector<Belief>& beliefs,
                double seconds_left) {
  const Belief& base = beliefs[sweep::kSearchStart];
  if (base.runs == 0 && base.has_failed) return {std::nullopt, Ending::kNoResult};
  if (base.runs == 0) return {Choice{{sweep::kSearchStart, 0}, Why::kStart, std::nullopt}, {}};
  // It was measured, but failed when it ran again before anything else had.
  const auto found = best_of(beliefs);
  if (!found) return {std::nullopt, Ending::kNoResult};
  const std::size_t best = *found;
  const double seconds = sweep::mean_seconds(results).value_or(0);
  auto choice = most_promising(beliefs, best);
  // A point that wins is confirmed in the end, and to confirm the best so far takes no more runs.
  if (choice && seconds_left >= seconds * (1 + runs_to_confirm_another(base))) {
    const auto again = second_start(results, beliefs);
    return {again ? again : choice, {}};
  }
  const bool had_no_time = choice.has_value();
  choice = confirmation(results, beliefs, best);
  if (choice && seconds_left >= seconds) return {choice, {}};
  return {std::nullopt, choice || had_no_time ? Ending::kNoTime : Ending::kSettled};
}

std::string_view to_string(Ending ending) {
  return trace::base::enum_name<Ending::kNoResult>(
      std::array<std::string_view, 3>{"settled", "no_time", "no_result"}, ending);
}

namespace {

constexpr double kMiss = 0.05;  // of a 95 % interval

// Each of them had its chance to look better than the start (Bonferroni).
int confirmed_points(const std::vector<Belief>& beliefs) {
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
  const Goal goal = plan.search->goal;
  const auto base = sweep::costs_of(results, sweep::kSearchStart, goal);
  if (!best || base.empty()) return std::nullopt;
  Outcome outcome;
  outcome.best = *best;
  outcome.base_cost = trace::base::mean_of(base);
  outcome.base_runs = static_cast<int>(base.size());
  auto found = sweep::costs_of(results, *best, goal, 1);
  outcome.leaves_choice_out = *best != sweep::kSearchStart && !found.empty();
  if (!outcome.leaves_choice_out) found = sweep::costs_of(results, *best, goal);
  for (std::size_t i = 0; i < beliefs.size(); ++i) {
    if (i != sweep::kSearchStart && beliefs[i].runs > 0) ++outcome.others;
  }
  outcome.best_cost = trace::base::mean_of(found);
  outcome.best_runs = static_cast<int>(found.size());
  if (*best == sweep::kSearchStart) return outcome;
  outcome.change = *outcome.best_cost / *outcome.base_cost - 1;
  const auto spread = spread_between_runs(plan, results);
  if (spread.degrees_of_freedom < 1) return outcome;
  const double error =
      spread.deviation * std::sqrt(1.0 / outcome.best_runs + 1.0 / outcome.base_runs);
  const double miss = kMiss / std::max(confirmed_points(beliefs), 1);
  outcome.half_width = trace::analysis::student_t_quantile(miss, spread.degrees_of_freedom) *
                       error * (1 + *outcome.change);
  return outcome;
}

}  // namespace shardlens::app::search
