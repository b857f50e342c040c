// What collectives that were measured apart from a run's steps would take in them, where they are
// held up by what ranks compute. Any thread.
#pragma once

#include "trace/predict/costs/collective_costs.h"
#include "trace/tuning/call_costs.h"

namespace shardlens::trace::tuning {

// Each transfer of `apart` longer by what the run's took beyond it: of the
// sizes that the run has, linear between them and beyond them as of the outermost. Of a function
// that the run has not, by what its all-reduces took beyond, as much as the backend moves of it.
// Never shorter.
predict::CollectiveCosts disturbed_as(const predict::CollectiveCosts& run,
                                      const predict::CollectiveCosts& apart,
                                      CallCosts::Backend backend);

}  // namespace shardlens::trace::tuning
