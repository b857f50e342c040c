// What collectives that were measured apart from a run's steps would take in them, where they are
// held up by what ranks compute. Any thread.
#pragma once

#include "trace/job/settings/settings.h"
#include "trace/model/run_info.h"
#include "trace/predict/costs/collective_costs.h"
#include "trace/predict/record/recorded_steps.h"
#include "trace/tuning/call_costs.h"

namespace shardlens::trace::tuning {

// Each transfer of `apart` longer by what the run's took beyond it: of the
// sizes that the run has, linear between them and above them as of the largest; below them as of
// the smallest, but what that has beyond a wait for a core in proportion to their time. Of a
// function that the run has not, by what its all-reduces took beyond, as much as the backend moves
// of it. Never shorter.
predict::CollectiveCosts disturbed_as(const predict::CollectiveCosts& run,
                                      const predict::CollectiveCosts& apart,
                                      CallCosts::Backend backend);

// What the run's steps tell, then what is `known` beside it, then what it moved before them.
// `settings`: its own, as they act.
CallCosts costs_of_run(const model::RunInfo& info, const job::Settings& settings,
                       const predict::RecordedSteps& recorded,
                       const predict::CollectiveCosts& known);

}  // namespace shardlens::trace::tuning
