// What one rank did lately, as intervals: steps are broken down from it, again whenever late rows
// touch them, until they are retired into totals. Memory is bounded by the recent past. One owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/analysis/steps/device_progress.h"
#include "trace/analysis/steps/step_breakdown.h"
#include "trace/analysis/steps/time_index.h"
#include "trace/base/intervals.h"
#include "trace/model/strings.h"

namespace shardlens::trace::analysis {

class RankActivity {
 public:
  // A step is retired once so many newer ones are known and every table has moved on so far beyond
  // its end: the recorder sends rows at most one or two batches (0.5 s) after the step's own row.
  static constexpr std::size_t kNewerSteps = 8;
  static constexpr std::int64_t kLateness = 2'000'000'000;
  // A table may end early (a size limit, a queue that lost all): then this many steps are kept.
  static constexpr std::size_t kMostSteps = 4096;

  // Between 0 and what no job reaches.
  static bool is_plausible_step(std::int64_t index);

  // Each returns how many rows were contradictory and left out.
  std::int64_t add_events(const model::EventRun& run, const model::StringTable& strings);
  std::int64_t add_span(const model::Span& span);
  // `row`: of CollectiveStatistics; -1: none.
  std::int64_t add_collective(const model::Collective& collective, int row,
                              std::optional<double> bytes_sent);
  std::int64_t add_step(const model::Step& step);
  // While a GPU's records go on, a step awaits its details until they have come past its end; where
  // they broke off, it has none unless they had.
  void follow_device(DeviceRecords records);

  struct ComputedStep {
    std::int64_t index = 0;
    StepBreakdown breakdown;
    std::vector<std::pair<int, std::int64_t>> exposed_ns;  // (row, part of it under no compute)
    base::Interval window;
    base::Intervals exposed;  // communication under no compute
    std::int64_t calls = 0;   // collectives that touch the window
  };
  // Every step that rows since the last call have touched.
  std::vector<ComputedStep> compute_touched();
  // Retires what may be; returns the first step that is still open or to come.
  std::int64_t retire();

  RankTotals totals() const;
  std::int64_t late_rows() const { return late_rows_; }        // came after their step was retired
  std::int64_t step_time_ns() const { return step_time_ns_; }  // of all steps
  std::size_t kept_intervals() const;

 private:
  struct RecentCollective {
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    std::optional<double> bytes_sent;
    int row = 0;
    auto operator<=>(const RecentCollective&) const = default;
  };
  struct Lengths {
    std::int64_t compute_ns = 0, comm_ns = 0, overlap_ns = 0, busy_ns = 0;
  };

  bool accept(std::int64_t start_ns, std::int64_t end_ns);
  void take_in_additions();
  ComputedStep compute(std::int64_t index, const model::Step& step) const;
  Lengths lengths_before(std::int64_t time_ns) const;
  void trim(std::int64_t time_ns);
  std::int64_t frontier() const;
  void note_device_progress();
  bool is_unread(const model::Step& step) const;

  base::Intervals compute_, communication_, copies_;  // since trimmed_ns_
  std::vector<base::Interval> new_compute_, new_communication_, new_copies_;
  TimeIndex<model::PhaseInterval> phases_;
  TimeIndex<RecentCollective> collectives_;
  std::map<std::int64_t, model::Step> steps_;
  std::int64_t last_retired_step_ = -1;

  base::Interval touched_{INT64_MAX, INT64_MIN};  // by rows since the last computation
  std::int64_t trimmed_ns_ = INT64_MIN;
  std::int64_t events_end_ns_ = INT64_MIN, spans_end_ns_ = INT64_MIN;
  std::int64_t collectives_end_ns_ = INT64_MIN;

  DeviceRecords device_ = DeviceRecords::kNone;
  DeviceProgress progress_;

  RankTotals totals_;  // counts of everything; lengths of what was trimmed
  std::int64_t first_ns_ = INT64_MAX, last_ns_ = INT64_MIN;
  std::int64_t late_rows_ = 0;
  std::int64_t step_time_ns_ = 0;
};

}  // namespace shardlens::trace::analysis
