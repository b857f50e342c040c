// What would help a recorded run: reads what the rules need beyond its figures. Slow; any thread.
#pragma once

#include "app/session/tuning/prediction_source.h"
#include "trace/analysis/figures/figures.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

// `learnt`: of the same run. Of steps that cannot be read nothing is said that would need them.
ui::state::AdviceView advise_run(const trace::analysis::RunFigures& figures,
                                 const LearntRun& learnt);

}  // namespace shardlens::app::session
