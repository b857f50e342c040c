// All predictions of a library that were made before their runs, beside what these took: as text
// for people and as JSON. Any thread.
#pragma once

#include <string>

#include "app/report/report_json.h"
#include "ui/present/tune/prediction_history.h"

namespace shardlens::app::report {

Json history_json(const ui::present::PredictionHistory& history);
std::string history_text(const ui::present::PredictionHistory& history);

}  // namespace shardlens::app::report
