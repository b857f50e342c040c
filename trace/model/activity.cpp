#include "trace/model/activity.h"

#include "trace/base/enum_text.h"

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

TimeClass phase_class(Phase phase) {
  switch (phase) {
    case Phase::kData:
      return TimeClass::kData;
    case Phase::kForward:
      return TimeClass::kForward;
    case Phase::kBackward:
      return TimeClass::kBackward;
    case Phase::kOptimizer:
      return TimeClass::kOptimizerPhase;
    case Phase::kEvaluation:
      return TimeClass::kEvaluation;
    case Phase::kCheckpoint:
    case Phase::kOther:
      return TimeClass::kOtherPhase;
  }
  return TimeClass::kOtherPhase;
}

TimeClass phase_class_of_name(std::string_view name) {
  return phase_class(enum_from_text(name, Phase::kOther).value_or(Phase::kOther));
}

}  // namespace shardlens::trace
