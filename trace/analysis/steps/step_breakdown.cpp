#include "trace/analysis/steps/step_breakdown.h"

namespace shardlens::trace {

StepBreakdown break_down(const StepActivity& activity) {
  StepBreakdown result;
  result.start_ns = activity.step.start_ns;
  result.step_ns = activity.step.length();
  result.phase_ns = partition_by_phase(activity.step, activity.phases);
  if (!activity.full_detail) return result;

  const auto optimizer = phase_intervals(activity.step, activity.phases, Phase::kOptimizer);
  const auto time = time_by_class(
      {activity.compute, activity.communication, activity.copies, optimizer}, activity.step);
  const auto of = [&](TimeClass time_class) { return time[index_of(time_class)]; };
  result.has_detail = true;
  result.overlap_ns = of(TimeClass::kOverlapped);
  result.exposed_ns = of(TimeClass::kExposed);
  result.comm_ns = result.overlap_ns + result.exposed_ns;
  result.compute_ns =
      of(TimeClass::kCompute) + of(TimeClass::kOptimizer) + of(TimeClass::kOverlapped);
  result.optimizer_compute_ns = length(intersect(activity.compute, optimizer));
  result.optimizer_overlap_ns = result.optimizer_compute_ns - of(TimeClass::kOptimizer);
  result.copy_ns = length_within(activity.copies, activity.step);
  result.exposed_copy_ns = of(TimeClass::kCopy);
  result.idle_ns = of(TimeClass::kIdle);
  return result;
}

}  // namespace shardlens::trace
