// Of which collectives exposed time is, and in which part of it a rank waited for others. One owner
// each.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/analysis/collectives/collective_statistics.h"
#include "trace/analysis/steps/joined_steps.h"
#include "trace/analysis/steps/time_index.h"
#include "trace/base/intervals.h"

namespace shardlens::trace::analysis {

// For the table of collectives: how long those of each of its rows ran with no computation beside
// them, over the measured steps. While rows of a step may still come its times are replaced as a
// whole; once all ranks are through with it they go into the sum.
class RowExposure {
 public:
  using Parts = std::vector<std::pair<int, std::int64_t>>;  // (row, nanoseconds)

  // What one rank's step added; replaces what it added before.
  void set(std::int64_t step, int rank, Parts parts);
  // Folds all steps before `step`.
  void fold_before(std::int64_t step, const JoinedSteps& steps);
  // Per step and rank: the sum ÷ (measured steps with detail × ranks), by row.
  std::vector<double> means(const JoinedSteps& steps, std::size_t rows) const;
  std::size_t open_steps() const { return open_.size(); }

 private:
  using Step = std::map<int, Parts>;  // by rank
  static void add_to(std::vector<std::int64_t>& sums, const Step& step);

  std::map<std::int64_t, Step> open_;
  std::vector<std::int64_t> folded_;  // by row
};

// Which part of exposed time a rank waited for others in, and in which part data moved. A step is
// decided once all calls in its exposed time are matched over their ranks.
class ExposureSplit {
 public:
  static constexpr std::int64_t kUnknown = -1;
  // Undecided steps of a rank that are kept. Files are read in slices of as many events, so that
  // ranks whose steps have fewer come further in time, and wait for the others.
  static constexpr std::size_t kMostOpen = 1 << 14;

  struct Exposed {
    base::Interval window;   // of the rank's step
    base::Intervals times;   // communication under no compute
    std::int64_t calls = 0;  // collectives that touch the window
  };
  // Replaces what was said of the rank's step before.
  void set(std::int64_t step, int rank, Exposed exposed);
  void add(const std::vector<MatchedCall>& calls);
  // Decides what can be decided by now.
  void resolve();

  // By rank, into each step: nanoseconds of waiting, or kUnknown, and how far they may be off where
  // clocks are off by as much as CollectiveStatistics::call_clocks() says.
  void fill(std::vector<StepFigures>& steps, const std::vector<CallClocks>& clocks) const;

 private:
  struct Open {
    Exposed exposed;
    bool is_dirty = true;
  };
  struct Waiting {
    std::int64_t ns = 0;
    std::map<int, std::int64_t> calls_between_hosts;  // that are exposed, by MatchedCall::hosts
  };
  struct Rank {
    std::map<std::pair<std::int64_t, std::int64_t>, Open> open;  // by begin of its window, and step
    std::map<std::int64_t, Waiting> waiting;                     // of decided steps
    TimeIndex<MatchedCall> calls;
    std::size_t calls_after_trim = 0;
    std::int64_t latest_window_ns = INT64_MIN;  // where the last known step began
    bool is_dirty = false;                      // something came since it was resolved
  };

  static bool decide(const Rank& rank, const Exposed& exposed, Waiting& waiting);
  static void trim(Rank& rank);

  std::map<int, Rank> ranks_;
};

}  // namespace shardlens::trace::analysis
