// What would help a run, as text for people and as JSON. Any thread.
#pragma once

#include <string>

#include "app/report/json.h"
#include "trace/analysis/figures/figures.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::report {

// Reads what the rules need beyond the figures. Slow.
ui::state::AdviceView advice_of(const trace::analysis::RunFigures& figures);

// The array `advice` of the report: docs/ADVICE.md.
Json advice_json(const ui::state::AdviceView& view);
// `step_ns`: the run's mean.
std::string advice_text(const ui::state::AdviceView& view, double step_ns);

}  // namespace shardlens::app::report
