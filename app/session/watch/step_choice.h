// Which step of a run the timeline shows when the user has not chosen one. Pure; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/analysis/figures/figures.h"

namespace shardlens::app::session {

// The latest complete step whose details have all arrived: `detail_until_ns` holds, by rank, the
// end of the latest span, collective or operator seen; for steps up to `settled` nothing more is
// awaited. Falls back to the latest complete step when the run records no details. -1: none yet.
std::int64_t followed_step(const std::vector<trace::analysis::StepFigures>& steps,
                           const std::vector<std::int64_t>& detail_until_ns,
                           std::int64_t settled = -1);

// The measured step with full detail whose time is nearest the median: what a finished run opens
// at. Falls back to steps without detail, then to the latest step. -1: there is none.
std::int64_t typical_step(const std::vector<trace::analysis::StepFigures>& steps);

// The figures of step `index`, or null.
const trace::analysis::StepFigures* find_step(
    const std::vector<trace::analysis::StepFigures>& steps, std::int64_t index);

}  // namespace shardlens::app::session
