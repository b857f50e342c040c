// A prediction as text for people and as JSON. Any thread.
#pragma once

#include <string>

#include "app/report/prediction.h"
#include "app/report/report_json.h"

namespace shardlens::app::report {

Json prediction_json(const Prediction& prediction);
std::string prediction_text(const Prediction& prediction);

}  // namespace shardlens::app::report
