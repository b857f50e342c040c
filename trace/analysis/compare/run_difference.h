// A run beside another one: what differs, whether it is more than noise, and what explains it. Any
// thread.
#pragma once

#include <cstddef>
#include <vector>

#include "trace/analysis/compare/detail_difference.h"
#include "trace/analysis/compare/step_explanation.h"
#include "trace/analysis/run/comparison.h"

namespace shardlens::trace::analysis {

struct NamedTimes;

// As many runs as can be told apart side by side.
inline constexpr std::size_t kFewestCompared = 2, kMostCompared = 6;

struct RunDifference {
  Comparison comparison;
  StepExplanation explanation;
  std::vector<DetailDifference> details;  // kind by kind, of each the greatest first
  // Left out of `details`: with the same number, but not the same parameters in both plans.
  std::size_t other_buckets = 0;
};

// What is compared: `times` may be null, and names are then not told apart.
struct ComparedSide {
  const RunFigures& figures;
  const NamedTimes* times = nullptr;
};
// `others`: as for compare_runs().
RunDifference difference_between(const ComparedSide& base, const ComparedSide& run,
                                 const std::vector<NoiseRun>& others = {});

}  // namespace shardlens::trace::analysis
