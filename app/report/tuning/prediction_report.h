// A prediction as text for people and as JSON. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/report/report_json.h"
#include "app/report/tuning/prediction.h"

namespace shardlens::app::report {

// What is predicted without its schedule, and the run's own.
Json predicted_json(const trace::tuning::Prediction& prediction, std::int64_t usable_bytes,
                    const std::optional<bool>& fits);
Json recorded_json(const trace::tuning::Prediction& prediction);

Json prediction_json(const PredictedRun& run);
// The same document where nothing can be predicted.
Json refused_json(const std::string& run, const std::string& reason);
std::string prediction_text(const PredictedRun& run);

}  // namespace shardlens::app::report
