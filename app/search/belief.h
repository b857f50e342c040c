// What is known of each point of a search: measured, predicted, or how what is most like it did.
// Pure: the same results and forecasts, the same answers. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/search/forecast.h"
#include "app/sweep/sweep_results.h"

namespace shardlens::app::search {

inline constexpr double kChanceWorthARun = 0.05;  // to win beyond noise

// What is known of a point so far.
struct Belief {
  int runs = 0;                // that were measured
  bool has_failed = false;     // one of its runs
  std::optional<double> cost;  // measured, else predicted; none: nothing is known
  double deviation = 0;        // standard, of the cost
  // Of a measured cost, 95 %: Student's t with the spread between runs of the same point, pooled
  // over points. None: no point ran twice, or it is as wide as the cost.
  std::optional<double> half_width;
  // Before it first ran; of one that has not, by all runs so far. None: nothing was predicted.
  std::optional<sweep::PredictedCost> predicted;
  bool fits = true;     // in memory, as far as that is known
  std::string from;     // a run that predicts just that; "": it is measured, or unknown
  std::string refused;  // why nothing is predicted
  // Where the point is neither measured nor predicted: the mean of the measured points that differ
  // from it in the fewest knobs, and how far that may be off.
  std::optional<double> alike;
  double alike_deviation = 0;
  // Probability to win over the best so far by more than the noise of a run. None: it has run,
  // would not fit, or there is no best yet.
  std::optional<double> chance;

  bool may_win() const { return chance && *chance >= kChanceWorthARun; }
  // The cost to reckon with; where nothing is known at all, that of the best.
  double expected(double best_cost) const { return cost ? *cost : alike.value_or(best_cost); }
  double own_deviation() const { return cost ? deviation : alike_deviation; }
};
// By point of a plan that has a search, as all that follows. Where several runs tell of it, the
// median counts; predictions that were off by more than they said make all of them less sure.
std::vector<Belief> beliefs_of(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                               const ForecastFrom& forecast);
// All points, the best first, as best_of() has it: those that were measured by their cost, then
// those that failed, then those that were not run by what is predicted of them.
std::vector<std::size_t> best_first(const std::vector<Belief>& beliefs);
// Between runs of the same point, pooled over points, as a share of their cost.
trace::analysis::RelativeSpread spread_between_runs(const sweep::SweepPlan& plan,
                                                    const sweep::SweepResults& results);

// For each point, whether it costs more than the point `best` beyond noise. None: it is `best`, was
// not measured, or the noise is not known.
std::vector<std::optional<bool>> behind(const sweep::SweepPlan& plan,
                                        const sweep::SweepResults& results, std::size_t best);

// The lowest mean of those that were measured and did not fail.
std::optional<std::size_t> best_of(const std::vector<Belief>& beliefs);

}  // namespace shardlens::app::search
