// How far a job is, from its figures. Pure; any thread.
#pragma once

#include <cstdint>

#include "trace/analysis/figures/figures.h"

namespace shardlens::app::session {

struct JobProgress {
  std::int64_t step = 0, steps = 0;  // steps: 0 when it is given in epochs
  double seconds_left = -1;          // -1: not known yet
};

// The time left follows the pace of the last steps, what lies between them included.
JobProgress progress_of(const trace::analysis::RunFigures& figures);

}  // namespace shardlens::app::session
