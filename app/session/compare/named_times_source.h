// Reads from a run's file how long what it names took. Slow. Any thread.
#pragma once

#include "trace/analysis/compare/named_times.h"
#include "trace/base/result.h"

namespace shardlens::app::session {

// Of the folder that `run` tells.
trace::base::Result<trace::analysis::NamedTimes> read_named_times(
    const trace::analysis::RunFigures& run);

}  // namespace shardlens::app::session
