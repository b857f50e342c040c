// For the table of collectives: how long those of each of its rows ran with no computation beside
// them, over the measured steps. While rows of a step may still come its times are replaced as a
// whole; once all ranks are through with it they go into the sum. One owner.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/analysis/steps/step_table.h"

namespace shardlens::trace::analysis {

class RowExposure {
 public:
  using Parts = std::vector<std::pair<int, std::int64_t>>;  // (row, nanoseconds)

  // What one rank's step added; replaces what it added before.
  void set(std::int64_t step, int rank, Parts parts);
  // Folds all steps before `step`.
  void fold_before(std::int64_t step, const StepTable& steps);
  // Per step and rank: the sum ÷ (measured steps with detail × ranks), by row.
  std::vector<double> means(const StepTable& steps, std::size_t rows) const;
  std::size_t open_steps() const { return open_.size(); }

 private:
  using Step = std::map<int, Parts>;  // by rank
  static void add_to(std::vector<std::int64_t>& sums, const Step& step);

  std::map<std::int64_t, Step> open_;
  std::vector<std::int64_t> folded_;  // by row
};

}  // namespace shardlens::trace::analysis
