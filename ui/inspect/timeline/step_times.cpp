#include "ui/inspect/timeline/step_times.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace shardlens::ui {

using trace::StepBreakdown;
using trace::StepFigures;

const StepBreakdown* breakdown_of(const StepFigures& step) {
  const auto rank = static_cast<std::size_t>(std::max(0, step.slowest_rank));
  return rank < step.ranks.size() ? &step.ranks[rank] : nullptr;
}

double step_ns_of(const StepFigures& step) {
  const StepBreakdown* shown = breakdown_of(step);
  return shown != nullptr && shown->step_ns > 0 ? static_cast<double>(shown->step_ns)
                                                : std::numeric_limits<double>::quiet_NaN();
}

std::vector<bool> slow_steps(const std::vector<StepFigures>& steps) {
  std::vector<double> measured;
  for (const StepFigures& step : steps) {
    if (!step.warmup && !std::isnan(step_ns_of(step))) measured.push_back(step_ns_of(step));
  }
  std::vector<bool> slow(steps.size());
  if (measured.size() < 3) return slow;
  std::ranges::sort(measured, std::greater());
  constexpr double kNotable = 1.1;
  const double least =
      std::max(measured[measured.size() / 100], kNotable * measured[measured.size() / 2]);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    slow[i] = !steps[i].warmup && step_ns_of(steps[i]) >= least;
  }
  return slow;
}

}  // namespace shardlens::ui
