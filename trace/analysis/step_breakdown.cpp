#include "trace/analysis/step_breakdown.h"

#include <algorithm>

namespace shardlens::trace {

namespace {

// Calls visit(phase, interval) for the disjoint pieces of the step that phases cover.
template <typename Visit>
void visit_phases(Interval step, const std::vector<PhaseInterval>& phases, Visit visit) {
  auto cursor = step.start_ns;
  for (const auto& phase : phases) {
    const Interval piece{std::max(phase.start_ns, cursor), std::min(phase.end_ns, step.end_ns)};
    if (piece.end_ns <= piece.start_ns) continue;
    visit(phase.phase, piece);
    cursor = piece.end_ns;
  }
}

}  // namespace

Activity activity_of(EventKind kind, const Event& event, std::string_view name) {
  switch (kind) {
    case EventKind::kOperator:
      return (event.flags & kEventCompute) != 0 ? Activity::kCompute : Activity::kNone;
    case EventKind::kKernel:
      return name.starts_with("nccl") ? Activity::kCommunication : Activity::kCompute;
    case EventKind::kCopy:
      return Activity::kCopy;
    case EventKind::kLaunch:
    case EventKind::kAllocation:
      return Activity::kNone;
  }
  return Activity::kNone;
}

std::array<std::int64_t, kPhaseCount> partition_by_phase(Interval step,
                                                         const std::vector<PhaseInterval>& phases) {
  std::array<std::int64_t, kPhaseCount> sums{};
  auto rest = step.length();
  visit_phases(step, phases, [&](Phase phase, Interval piece) {
    sums[static_cast<std::size_t>(phase)] += piece.length();
    rest -= piece.length();
  });
  sums[static_cast<std::size_t>(Phase::kOther)] += rest;
  return sums;
}

Intervals phase_intervals(Interval step, const std::vector<PhaseInterval>& phases, Phase phase) {
  std::vector<Interval> pieces;
  visit_phases(step, phases, [&](Phase found, Interval piece) {
    if (found == phase) pieces.push_back(piece);
  });
  return normalize(std::move(pieces));
}

StepBreakdown break_down(const StepActivity& activity) {
  StepBreakdown result;
  result.start_ns = activity.step.start_ns;
  result.step_ns = activity.step.length();
  result.phase_ns = partition_by_phase(activity.step, activity.phases);
  if (!activity.full_detail) return result;

  const auto compute = clip(activity.compute, activity.step);
  const auto communication = clip(activity.communication, activity.step);
  const auto copies = clip(activity.copies, activity.step);
  const auto busy = unite(compute, communication);
  const auto optimizer = phase_intervals(activity.step, activity.phases, Phase::kOptimizer);

  result.has_detail = true;
  result.compute_ns = length(compute);
  result.optimizer_compute_ns = length(intersect(compute, optimizer));
  result.comm_ns = length(communication);
  result.overlap_ns = length(intersect(communication, compute));
  result.exposed_ns = result.comm_ns - result.overlap_ns;
  result.copy_ns = length(copies);
  result.exposed_copy_ns = length(subtract(copies, busy));
  result.idle_ns = result.step_ns - length(busy) - result.exposed_copy_ns;
  return result;
}

}  // namespace shardlens::trace
