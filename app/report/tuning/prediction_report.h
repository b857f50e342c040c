// What is predicted, of one change or of many settings, as text for people and as JSON. Any thread.
#pragma once

#include <string>

#include "app/report/report_json.h"
#include "app/report/tuning/prediction.h"

namespace shardlens::app::report {

Json prediction_json(const PredictedRun& run);
// The same document where nothing can be predicted.
Json refused_json(const std::string& run, const std::string& reason);
std::string prediction_text(const PredictedRun& run);

// Of many settings, the best first. `command`: with which the run was named: "shardlens predict
// base", for the first in detail.
Json points_json(const PredictedPoints& all);
std::string points_text(const PredictedPoints& all, const std::string& command);

}  // namespace shardlens::app::report
