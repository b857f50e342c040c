// What is predicted of a run that goes on, from what it had recorded when it was learnt, moved to
// what is measured by now: a figure, and the difference beside it, are of the same steps. Any
// thread.
#pragma once

#include "trace/analysis/figures/figures.h"
#include "trace/job/settings/settings.h"
#include "trace/tuning/knob_curve.h"
#include "trace/tuning/predictor.h"

namespace shardlens::app::session {

// `figures`: of the run that was predicted from, as they are now. What the change does stays as it
// was learnt, and so do the widths of intervals.
void measure_now(const trace::analysis::RunFigures& figures, trace::tuning::Prediction& prediction);

// `next`: the settings that the curve is of. `step_ns`: the run's mean now.
void measure_now(const trace::tuning::Predictor& predictor, const trace::job::Settings& next,
                 double step_ns, trace::tuning::KnobCurve& curve);

}  // namespace shardlens::app::session
