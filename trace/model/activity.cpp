#include "trace/model/activity.h"

#include <algorithm>
#include <iterator>

namespace shardlens::trace::model {

namespace {

// Calls visit(phase, interval) for the disjoint pieces of the step that phases cover.
template <typename Visit>
void visit_phases(base::Interval step, const std::vector<PhaseInterval>& phases, Visit visit) {
  auto cursor = step.start_ns;
  for (const auto& phase : phases) {
    const base::Interval piece{std::max(phase.start_ns, cursor),
                               std::min(phase.end_ns, step.end_ns)};
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

std::array<std::int64_t, base::kPhaseCount> partition_by_phase(
    base::Interval step, const std::vector<PhaseInterval>& phases) {
  std::array<std::int64_t, base::kPhaseCount> sums{};
  auto rest = step.length();
  visit_phases(step, phases, [&](base::Phase phase, base::Interval piece) {
    sums[static_cast<std::size_t>(phase)] += piece.length();
    rest -= piece.length();
  });
  sums[static_cast<std::size_t>(base::Phase::kOther)] += rest;
  return sums;
}

base::Intervals phase_intervals(base::Interval step, const std::vector<PhaseInterval>& phases,
                                base::Phase phase) {
  std::vector<base::Interval> pieces;
  visit_phases(step, phases, [&](base::Phase found, base::Interval piece) {
    if (found == phase) pieces.push_back(piece);
  });
  return base::normalize(std::move(pieces));
}

const Step* step_at(std::span<const Step> steps, std::int64_t time_ns) {
  const auto next = std::ranges::upper_bound(steps, time_ns, {}, &Step::start_ns);
  if (next == steps.begin()) return nullptr;
  const Step& step = *std::prev(next);
  return time_ns < step.end_ns ? &step : nullptr;
}

base::TimeClass phase_class(base::Phase phase) {
  using enum base::TimeClass;
  constexpr std::array<base::TimeClass, base::kPhaseCount> kClasses{
      kData, kForward, kBackward, kOptimizerPhase, kEvaluation, kOtherPhase, kOtherPhase};
  const auto place = static_cast<std::size_t>(phase);
  return place < kClasses.size() ? kClasses[place] : kOtherPhase;
}

}  // namespace shardlens::trace::model
