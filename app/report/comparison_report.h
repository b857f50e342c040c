// Runs side by side, as text for people and as JSON. Any thread.
#pragma once

#include <string>
#include <vector>

#include "app/report/json.h"
#include "trace/analysis/compare/run_difference.h"

namespace shardlens::app::report {

// Two or more runs; the first is the base.
struct ComparedRuns {
  std::vector<trace::analysis::RunFigures> runs;
  std::vector<trace::analysis::RunDifference> differences;  // of runs[1], runs[2], … from the base
};

// A contract: docs/NUMBERS.md, "What explains a difference".
Json comparison_json(const ComparedRuns& compared);
std::string comparison_text(const ComparedRuns& compared);

}  // namespace shardlens::app::report
