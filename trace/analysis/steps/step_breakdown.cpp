#include "trace/analysis/steps/step_breakdown.h"

namespace shardlens::trace::analysis {

namespace {

void add_exposed_phases(const StepActivity& activity, StepBreakdown& result) {
  const auto exposed =
      base::clip(base::subtract(activity.communication, activity.compute), activity.step);
  std::int64_t rest = result.exposed_ns;
  for (int i = 0; i < base::kPhaseCount; ++i) {
    const auto times = model::phase_intervals(activity.step, activity.phases,
                                              base::Phase{static_cast<std::uint8_t>(i)});
    auto& in_phase = result.exposed_phase_ns[static_cast<std::size_t>(i)];
    in_phase = base::length(base::intersect(exposed, times));
    rest -= in_phase;
  }
  result.exposed_phase_ns[static_cast<std::size_t>(base::Phase::kOther)] = rest;
}

}  // namespace

StepBreakdown break_down(const StepActivity& activity) {
  StepBreakdown result;
  result.start_ns = activity.step.start_ns;
  result.step_ns = activity.step.length();
  result.phase_ns = model::partition_by_phase(activity.step, activity.phases);
  if (!activity.full_detail) return result;

  const auto optimizer =
      model::phase_intervals(activity.step, activity.phases, base::Phase::kOptimizer);
  const auto time = base::time_by_class(
      {activity.compute, activity.communication, activity.copies, optimizer}, activity.step);
  const auto of = [&](base::TimeClass time_class) { return time[base::index_of(time_class)]; };
  result.has_detail = true;
  result.overlap_ns = of(base::TimeClass::kOverlapped);
  result.exposed_ns = of(base::TimeClass::kExposed);
  result.comm_ns = result.overlap_ns + result.exposed_ns;
  result.compute_ns = of(base::TimeClass::kCompute) + of(base::TimeClass::kOptimizer) +
                      of(base::TimeClass::kOverlapped);
  result.optimizer_compute_ns = base::length(base::intersect(activity.compute, optimizer));
  result.optimizer_overlap_ns = result.optimizer_compute_ns - of(base::TimeClass::kOptimizer);
  result.copy_ns = base::length_within(activity.copies, activity.step);
  result.exposed_copy_ns = of(base::TimeClass::kCopy);
  result.idle_ns = of(base::TimeClass::kIdle);
  add_exposed_phases(activity, result);
  return result;
}

}  // namespace shardlens::trace::analysis
