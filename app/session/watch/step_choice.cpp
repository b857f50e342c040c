#include "app/session/watch/step_choice.h"

#include <algorithm>

#include "trace/analysis/figures/run_summary.h"

namespace shardlens::app::session {

using trace::analysis::StepFigures;

namespace {

bool details_arrived(const StepFigures& step, const std::vector<std::int64_t>& until_ns) {
  if (until_ns.size() < step.ranks.size()) return false;
  for (std::size_t rank = 0; rank < step.ranks.size(); ++rank) {
    if (until_ns[rank] < step.start_ns + step.ranks[rank].step_ns) return false;
  }
  return true;
}

const StepFigures* nearest_median(std::vector<const StepFigures*> steps) {
  if (steps.empty()) return nullptr;
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
  std::nth_element(steps.begin(), middle, steps.end(), [](const auto* a, const auto* b) {
    return a->shown().step_ns < b->shown().step_ns;
  });
  return *middle;
}

}  // namespace

std::int64_t followed_step(const std::vector<StepFigures>& steps,
                           const std::vector<std::int64_t>& detail_until_ns, std::int64_t settled) {
  std::int64_t latest = -1;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (!step->complete || step->ranks.empty()) continue;
    if (latest < 0) latest = step->index;
    const bool whole = step->index <= settled || details_arrived(*step, detail_until_ns);
    if (trace::analysis::has_detail(*step) && whole) return step->index;
  }
  return latest;
}

std::int64_t typical_step(const std::vector<StepFigures>& steps) {
  std::vector<const StepFigures*> detailed, measured;
  for (const auto& step : steps) {
    if (!step.complete || step.warmup || step.ranks.empty()) continue;
    measured.push_back(&step);
    if (trace::analysis::has_detail(step)) detailed.push_back(&step);
  }
  const auto* typical = nearest_median(detailed.empty() ? measured : detailed);
  if (typical != nullptr) return typical->index;
  return steps.empty() ? -1 : steps.back().index;
}

const StepFigures* find_step(const std::vector<StepFigures>& steps, std::int64_t index) {
  const auto found = std::lower_bound(
      steps.begin(), steps.end(), index,
      [](const StepFigures& step, std::int64_t wanted) { return step.index < wanted; });
  return found != steps.end() && found->index == index ? &*found : nullptr;
}

}  // namespace shardlens::app::session
