#include "app/search/outcome.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trace/analysis/noise/student_t.h"

namespace shardlens::app::search {
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
