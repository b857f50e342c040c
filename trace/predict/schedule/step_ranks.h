// Which ranks go through a step: those that were recorded, or more of them. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/predict/record/step_work.h"

namespace shardlens::trace::predict {

struct StepRank {
  const RankWork* work = nullptr;  // what it computes
  std::int64_t start_ns = 0;       // absolute
  double pace = 1;                 // takes so many times as long as was recorded
};

// How long ranks compute in a step, and what makes that longer: a two-way analysis of variance of
// steps and ranks (Searle 1971, Linear Models, chapter 7).
struct StepSpread {
  std::vector<double> of_steps_ns;     // mean over ranks
  std::vector<double> of_ranks_ns;     // mean over steps
  std::vector<double> rank_starts_ns;  // behind the mean of a step's ranks, mean over steps
  double mean_ns = 0;
  // The share of the variance of `of_steps_ns` that comes from what slows all ranks of a step
  // alike; the rest comes from single ranks.
  double shared = 0;
};

// Of steps with as many ranks each.
StepSpread step_spread(const std::vector<StepWork>& steps);

// The ranks of steps[step]. One beyond those that were recorded does what one of them did in
// another of `steps`, another one for each, so that it lies as far from all others as recorded
// ranks from each other, and shares with them what slows a step for all. `spread`: of these steps.
std::vector<StepRank> ranks_of_step(const std::vector<StepWork>& steps, const StepSpread& spread,
                                    std::size_t step, std::size_t ranks);

}  // namespace shardlens::trace::predict
