// Two runs side by side, as text for people and as JSON. Any thread.
#pragma once

#include <string>

#include "app/report/report_json.h"
#include "trace/analysis/run/comparison.h"

namespace shardlens::app {

Json comparison_json(const trace::RunFigures& first, const trace::RunFigures& second,
                     const trace::Comparison& comparison);
std::string comparison_text(const trace::RunFigures& first, const trace::RunFigures& second,
                            const trace::Comparison& comparison);

}  // namespace shardlens::app
