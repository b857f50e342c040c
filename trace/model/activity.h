// What a recorded row counts as when a step's time is divided: the activity of an event, the time
// of a phase, the step of a moment. Pure functions, any thread.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "trace/base/time_partition.h"
#include "trace/model/events.h"

namespace shardlens::trace::model {

// What a bulk event counts as.
enum class Activity : std::uint8_t { kNone, kCompute, kCommunication, kCopy };

// Operators count only with kEventCompute; kernels always, as communication when they are NCCL's
// (their names begin with "nccl"; pytorch's Kineto decides in the same way).
Activity activity_of(EventKind kind, const Event& event, std::string_view name);

struct PhaseInterval {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  base::Phase phase = base::Phase::kOther;

  auto operator<=>(const PhaseInterval&) const = default;
};

// The step's time by phase; what no phase covers is kOther. Where phases, which are sorted,
// overlap, the one that started first keeps the time, so that the sum is always the step.
std::array<std::int64_t, base::kPhaseCount> partition_by_phase(
    base::Interval step, const std::vector<PhaseInterval>& phases);
// The time of one phase inside the step, as a set.
base::Intervals phase_intervals(base::Interval step, const std::vector<PhaseInterval>& phases,
                                base::Phase phase);

// The step in which a moment lies, of some in the order of their starts; null: in none.
const Step* step_at(std::span<const Step> steps, std::int64_t time_ns);

// What a phase is drawn as.
base::TimeClass phase_class(base::Phase phase);

}  // namespace shardlens::trace::model
