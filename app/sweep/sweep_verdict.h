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
  std::string reason;  // why it failed or was stopped; "": neither

  std::vector<std::string> runs;                   // names of those that were measured
  std::optional<double> step_ns;                   // mean over its runs; none: none was measured
  std::optional<double> half_width_ns;             // of it, 95 %; none: no point was measured twice
  std::optional<double> exposed_ns, tokens_per_s;  // means; none: not known of every run
  std::optional<double> peak_memory_bytes;         // the greatest
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
