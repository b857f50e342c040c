// The report as text for people: aligned, units chosen by size. Any thread.
#pragma once

#include <string>

#include "app/report/run_report.h"

namespace shardlens::app::report {

std::string report_text(const RunReport& report);

// "Failed: rank 1 …", with the end of that rank's log; "" for a run that did not fail.
std::string failure_text(const RunReport& report);

}  // namespace shardlens::app::report
