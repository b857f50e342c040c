// Two runs side by side, as text for people and as JSON. Any thread.
#pragma once

#include <string>

#include "app/report/report_json.h"
#include "trace/analysis/run/comparison.h"

namespace shardlens::app::report {

Json comparison_json(const trace::analysis::RunFigures& first,
                     const trace::analysis::RunFigures& second,
                     const trace::analysis::Comparison& comparison);
std::string comparison_text(const trace::analysis::RunFigures& first,
                            const trace::analysis::RunFigures& second,
                            const trace::analysis::Comparison& comparison);

}  // namespace shardlens::app::report
