#include "trace/analysis/compare/step_explanation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "trace/analysis/noise/step_estimates.h"

namespace shardlens::trace::analysis {

namespace {

struct SharedPart {
  StepShare share;
  std::string_view name;
  double RunSummary::*mean;
};
constexpr SharedPart kComputePart{StepShare::kCompute, "compute", &RunSummary::compute_ns};
constexpr SharedPart kExposedPart{StepShare::kExposed, "exposed", &RunSummary::exposed_ns};
constexpr SharedPart kOtherParts[] = {
    {StepShare::kExposedCopy, "exposed copies", &RunSummary::exposed_copy_ns},
    {StepShare::kIdle, "idle", &RunSummary::idle_ns},
};

class Explainer {
 public:
  Explainer(const RunSummary& first, const RunSummary& second, const Comparison& comparison)
      : first_(first), second_(second), comparison_(comparison) {}

  std::vector<ShareDifference> parts() {
    if (!first_.has_detail || !second_.has_detail) return {};
    add(kComputePart);
    if (first_.exposed_wait_ns && second_.exposed_wait_ns) {
      add(StepShare::kWaiting, kWaitingName, *first_.exposed_wait_ns, *second_.exposed_wait_ns);
      add(StepShare::kTransfer, kTransferName, first_.exposed_ns - *first_.exposed_wait_ns,
          second_.exposed_ns - *second_.exposed_wait_ns);
    } else {
      add(kExposedPart);
    }
    for (const SharedPart& part : kOtherParts) add(part);
    if (lacks_detail(first_) || lacks_detail(second_)) {
      add(StepShare::kUndetailed, "steps without detail",
          first_.step_ns.mean - first_.detailed_step_ns,
          second_.step_ns.mean - second_.detailed_step_ns);
    }
    return sorted();
  }

  std::vector<ShareDifference> phases() {
    for (std::size_t phase = 0; phase < first_.phase_ns.size(); ++phase) {
      const auto &a = first_.phase_ns[phase], &b = second_.phase_ns[phase];
      // The time of a phase that one of two programs does not mark lies in its other phases.
      if (a.has_value() != b.has_value()) return {};
      if (a) add(StepShare::kPhase, base::to_string(static_cast<base::Phase>(phase)), *a, *b);
    }
    return sorted();
  }

 private:
  static bool lacks_detail(const RunSummary& run) {
    return run.steps_detailed != run.steps_measured;
  }

  void add(const SharedPart& part) {
    add(part.share, part.name, first_.*part.mean, second_.*part.mean);
  }

  void add(StepShare share, std::string_view name, double first, double second) {
    if (first == 0 && second == 0) return;
    ShareDifference added{.share = share, .name = name, .first = first, .second = second};
    const auto judged = std::ranges::find(comparison_.figures, name, &FigureDifference::name);
    if (judged != comparison_.figures.end()) {
      added.half_width = judged->half_width;
      added.beyond_noise = judged->beyond_noise;
    }
    shares_.push_back(added);
  }

  std::vector<ShareDifference> sorted() {
    std::ranges::stable_sort(shares_, std::ranges::greater{},
                             [](const auto& share) { return std::abs(share.difference()); });
    return std::exchange(shares_, {});
  }

  const RunSummary &first_, &second_;
  const Comparison& comparison_;
  std::vector<ShareDifference> shares_;
};

}  // namespace

StepExplanation explain_step(const RunFigures& first, const RunFigures& second,
                             const Comparison& comparison) {
  StepExplanation result{.first_ns = first.summary.step_ns.mean,
                         .second_ns = second.summary.step_ns.mean,
                         .parts = {},
                         .phases = {}};
  if (first.summary.steps_measured == 0 || second.summary.steps_measured == 0) return result;
  Explainer explainer(first.summary, second.summary, comparison);
  result.parts = explainer.parts();
  result.phases = explainer.phases();
  return result;
}

}  // namespace shardlens::trace::analysis
