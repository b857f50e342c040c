// Where the time of one rank's step went, from intervals. Definitions: docs/NUMBERS.md. Any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include "trace/analysis/figures.h"
#include "trace/analysis/intervals.h"
#include "trace/model/events.h"

namespace shardlens::trace {

// What a bulk event counts as.
enum class Activity : std::uint8_t { kNone, kCompute, kCommunication, kCopy };

// Operators count only with kEventCompute; kernels always, as communication when they are NCCL's
// (their names begin with "nccl"; pytorch's Kineto decides in the same way).
Activity activity_of(EventKind kind, const Event& event, std::string_view name);

struct PhaseInterval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  Phase phase = Phase::kOther;

  auto operator<=>(const PhaseInterval&) const = default;
};

// What happened around one rank's step; may reach beyond its borders, where it is clipped.
struct StepActivity {
  Interval step;
  bool full_detail = false;
  Intervals compute, communication, copies;
  std::vector<PhaseInterval> phases;  // sorted
};

StepBreakdown break_down(const StepActivity& activity);

// The step's time by phase; what no phase covers is kOther. Where phases overlap, the one that
// started first keeps the time, so that the sum is always the step.
std::array<std::int64_t, kPhaseCount> partition_by_phase(Interval step,
                                                         const std::vector<PhaseInterval>& phases);
// The time of one phase inside the step, as a set.
Intervals phase_intervals(Interval step, const std::vector<PhaseInterval>& phases, Phase phase);

}  // namespace shardlens::trace
