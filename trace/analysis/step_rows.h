// The rows of one rank that a step's timeline is drawn from, sorted out of batches. Any thread.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "trace/analysis/figures.h"
#include "trace/analysis/intervals.h"
#include "trace/analysis/step_breakdown.h"
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

// Rows of each rank below `rank_count` that touch the rank's step. `steps[r]`: its time.
std::vector<StepRows> rows_by_rank(const std::vector<Batch>& batches,
                                   const std::vector<Interval>& steps, const StringTable& strings);

// When the last rank of a group started a collective, matched by (group and its members, sequence,
// function): groups of different ranks may have the same number.
class LatestStarts {
 public:
  LatestStarts(const std::vector<Batch>& batches, const std::vector<ProcessGroupFigures>& groups);
  std::int64_t of(const Collective& collective) const;  // its own start if no other is known

 private:
  using Key = std::tuple<int, int, std::int64_t, CollectiveFunction>;
  Key key_of(const Collective& collective) const;

  std::map<std::pair<int, int>, int> first_member_;  // by (group, rank)
  std::map<Key, std::int64_t> latest_;
};

}  // namespace shardlens::trace
