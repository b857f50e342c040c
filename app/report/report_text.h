// The report as text for people: aligned, units chosen by size. Any thread.
#pragma once

#include <string>

#include "app/report/run_report.h"

namespace shardlens::app::report {

std::string report_text(const RunReport& report);

// "Failed: rank 1 …", with the end of that rank's log; "" for a run that did not fail.
std::string failure_text(const RunReport& report);

// Its tables of what is communicated, each with its heading; "" where there is nothing to list.
std::string collectives_text(const trace::analysis::RunFigures& figures);
std::string buckets_text(const trace::analysis::RunFigures& figures);
std::string units_text(const trace::analysis::RunFigures& figures);

// "loss or gradient norm not finite in 3 steps, first in step 12 on rank 0", or "".
std::string nonfinite_text(const std::vector<trace::analysis::StepFigures>& steps);

// Why more may be sent than the strategy asked for: "; reduce_scatter ran as all_reduce", or "".
std::string other_functions_text(const trace::analysis::RunFigures& figures);

}  // namespace shardlens::app::report
