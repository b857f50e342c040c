// A sweep's result as text for people and as JSON. Any thread.
#pragma once

#include <string>
#include <vector>

#include "app/report/json.h"
#include "app/sweep/sweep_prediction.h"
#include "app/sweep/sweep_verdict.h"

namespace shardlens::app::report {

struct SweepReport {
  sweep::SweepPlan plan;
  sweep::SweepVerdict verdict;
  sweep::SweepPredictions predictions;
  std::string status;                // "done", "stopped" or "failed"
  std::string reason;                // why it is not done; "": it is
  std::vector<std::string> banners;  // what makes all of its timings unlike a real job's
};

Json sweep_json(const SweepReport& report);
std::string sweep_text(const SweepReport& report);

}  // namespace shardlens::app::report
