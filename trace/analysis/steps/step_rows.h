// The rows of one rank that a step's timeline is drawn from, sorted out of batches. One thread at a
// time.
#pragma once

#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/analysis/steps/step_breakdown.h"
#include "trace/base/intervals.h"
#include "trace/model/batch.h"
#include "trace/model/strings.h"

namespace shardlens::trace {

struct NamedInterval {
  Interval time;
  StringId name = 0;

  auto operator<=>(const NamedInterval&) const = default;
};

struct StepRows {
  std::vector<NamedInterval> compute;  // sorted; may overlap across threads and streams
  Intervals compute_union, communication, copies;
  std::vector<PhaseInterval> phases;    // of depth 0, sorted
  std::vector<Span> spans;              // of all depths, sorted by start
  std::vector<Collective> collectives;  // sorted by start
  std::vector<BucketReady> ready;
  std::vector<UnitReady> unit_ready;
};

// Sorts out the rows that touch the step of their rank, batch by batch, so that what was read of
// one rank need not wait in memory for the others. `strings` outlives it.
class StepRowCollector {
 public:
  StepRowCollector(const StepFigures& step, const StringTable& strings);

  // In any order.
  void take_in(const Batch& batch);

  // All of them, also those that touch no step of their rank.
  const std::vector<Collective>& collectives() const { return collectives_; }
  const std::vector<Interval>& steps() const { return steps_; }  // by rank
  std::vector<StepRows> finish() &&;                             // by rank

 private:
  bool touches(int rank, std::int64_t start_ns, std::int64_t end_ns) const;
  void take_in(const EventRun& run);

  std::vector<Interval> steps_;
  const StringTable& strings_;
  std::vector<StepRows> rows_;
  std::vector<std::vector<Interval>> communication_, copies_;
  std::vector<Collective> collectives_;
};

}  // namespace shardlens::trace
