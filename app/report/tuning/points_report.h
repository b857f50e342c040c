// What is predicted of many settings, the best first, as text for people and as JSON. Any thread.
#pragma once

#include <string>

#include "app/report/report_json.h"
#include "app/report/tuning/prediction.h"

namespace shardlens::app::report {

Json points_json(const PredictedPoints& all);
// `command`: with which the run was named: "shardlens predict base", for the first in detail.
std::string points_text(const PredictedPoints& all, const std::string& command);

}  // namespace shardlens::app::report
