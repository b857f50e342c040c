// The text report's tables of what is communicated. Any thread.
#pragma once

#include <string>
#include <vector>

#include "trace/analysis/figures/figures.h"

namespace shardlens::app::report {

// Each with its heading; "" where there is nothing to list.
std::string collectives_text(const trace::analysis::RunFigures& figures);
std::string buckets_text(const trace::analysis::RunFigures& figures);
std::string units_text(const trace::analysis::RunFigures& figures);

// "loss or gradient norm not finite in 3 steps, first in step 12 on rank 0", or "".
std::string nonfinite_text(const std::vector<trace::analysis::StepFigures>& steps);

// Why more may be sent than the strategy asked for: "; reduce_scatter ran as all_reduce", or "".
std::string other_functions_text(const trace::analysis::RunFigures& figures);

}  // namespace shardlens::app::report
