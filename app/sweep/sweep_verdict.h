// What a sweep says in the end, or so far: each point's figures, which is best, and how sure that
// is. Definitions: docs/NUMBERS.md, "A sweep". Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/sweep/sweep_results.h"
#include "ui/state/sweep_view.h"

namespace shardlens::app::sweep {

using Standing = ui::state::SweepStanding;
std::string_view to_string(Standing standing);  // "within_noise"

struct PointVerdict : ui::state::PointFigures {
  bool is_to_be_retried = false;            // it failed but once: it is run once more in the end
  std::vector<std::string> runs;            // names of those that were measured
  std::optional<double> peak_memory_bytes;  // the greatest, with what is outside PyTorch
  // Of slower_by; together they hold for all points in 95 % of sweeps. None: the spread between
  // runs is not known.
  std::optional<trace::analysis::RoundDifference> bounds;
};

struct SweepVerdict {
  std::vector<PointVerdict> points;
  Goal goal = Goal::kStepTime;
  std::optional<std::size_t> best;  // none: no point has a result
  std::string why;                  // one or two sentences about the best; "": there is none
  trace::analysis::RelativeSpread between_runs;  // of one run's cost
};

SweepVerdict verdict_of(const SweepPlan& plan, const SweepResults& results);

}  // namespace shardlens::app::sweep
