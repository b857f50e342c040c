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

struct PointVerdict {
  Standing standing = Standing::kNotRun;
  std::string reason;             // why it failed or was stopped; "": neither
  bool is_to_be_retried = false;  // it failed but once: it is run once more in the end
  std::string failed_once;  // why one of its runs failed that was well the second time; "": none

  std::vector<std::string> runs;  // names of those that were measured
  // Geometric means over its runs, as of a round that is like all that were measured: what points
  // are put in order by (step_ns or tokens_per_s, as the goal is) is what is shown. None: none was
  // measured; of the rate: not known of every run.
  std::optional<double> step_ns, tokens_per_s;
  std::optional<double> half_width_ns;  // of step_ns, 95 %; none: no point was measured twice
  std::optional<double> exposed_ns;     // mean; none: not known of every run
  // The greatest: with what is outside PyTorch, and of tensors.
  std::optional<double> peak_memory_bytes, peak_tensor_bytes;
  // No other point is better in both step time (or time per token) and tensors' memory. Of a point
  // that failed or has no figures: no.
  bool is_on_front = false;
  // Of its cost to the best's: time per step, or per token. Bounds that together hold for all
  // points in 95 % of sweeps; none: the spread between runs is not known.
  std::optional<double> slower_by;
  std::optional<trace::analysis::RoundDifference> bounds;
};

struct SweepVerdict {
  std::vector<PointVerdict> points;
  SweepGoal goal = SweepGoal::kStepTime;
  std::optional<std::size_t> best;  // none: no point has a result
  std::string why;                  // one or two sentences about the best; "": there is none
  trace::analysis::RelativeSpread between_runs;  // of one run's cost
};

SweepVerdict verdict_of(const SweepPlan& plan, const SweepResults& results);

}  // namespace shardlens::app::sweep
