// The rows of one rank that a step's timeline is drawn from, sorted out of batches. Any thread.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "trace/analysis/figures.h"
#include "trace/analysis/host_clocks.h"
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

// Until when a rank waited in a collective.
struct WaitEnd {
  // The last rank's start; the own one of a rank that waited for nobody, as it had left by then.
  std::optional<std::int64_t> time_ns;
  WaitDoubt doubt = WaitDoubt::kNone;  // why that is not known
};

// Calls over the ranks of a group, matched by (group and its members, sequence, function): groups
// of different ranks may have the same number.
class MatchedWaits {
 public:
  // `rank_count`: of the run, which groups that nobody announced span; `clocks`: null: there is
  // one.
  MatchedWaits(const std::vector<Batch>& batches, const std::vector<ProcessGroupFigures>& groups,
               std::size_t rank_count, const HostClocks* clocks);
  WaitEnd end_of(const Collective& collective) const;

 private:
  using Key = std::tuple<int, int, std::int64_t, CollectiveFunction>;
  struct Group {
    int first_member = 0;
    std::size_t size = 0;
  };
  struct Call {
    std::int64_t latest_start_ns = 0;
    std::vector<int> ranks;  // ascending
    std::int64_t clock_error_ns = 0;
  };

  Group group_of(const Collective& collective) const;
  Key key_of(const Collective& collective) const;

  std::map<std::pair<int, int>, Group> groups_;  // by (group, rank)
  Group all_;
  std::map<Key, Call> calls_;
};

}  // namespace shardlens::trace
