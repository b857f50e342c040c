// Predictions of changes, as text for people and as JSON. Any thread.
#pragma once

#include <string>

#include "app/report/json.h"
#include "app/report/tuning/predicted_run.h"
#include "ui/present/tune/prediction_history.h"

namespace shardlens::app::report {

Json prediction_json(const PredictedRun& run);
// The same document where nothing can be predicted.
Json refused_json(const std::string& run, const std::string& reason);
std::string prediction_text(const PredictedRun& run);

// Of many settings, the best first. `command`: with which the run was named: "shardlens predict
// base", for the first in detail.
Json points_json(const PredictedPoints& all);
std::string points_text(const PredictedPoints& all, const std::string& command);

// All predictions of a library that were made before their runs, beside what these took.
Json history_json(const ui::present::PredictionHistory& history);
std::string history_text(const ui::present::PredictionHistory& history);

}  // namespace shardlens::app::report
