// The report as JSON: a contract, see `shardlens report --help` and docs. Milliseconds and bytes;
// what is unknown is null. Any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "app/report/run_report.h"

namespace shardlens::app::report {

using Json = nlohmann::ordered_json;

Json report_json(const RunReport& report);

// One knob's value with its own type: 25.0, true, "auto".
Json knob_json(const trace::job::Settings& settings, const trace::job::Knob& knob);
Json settings_json(const trace::job::Settings& settings);
// null unless finite.
Json number_or_null(double value);
Json ms(double ns);  // likewise, in milliseconds
Json optional_number(const std::optional<double>& value, double factor = 1);
Json text_or_null(const std::string& text);  // null: ""
// Text for standard output, which must be UTF-8 whatever a damaged file holds.
std::string dump_json(const Json& json);

}  // namespace shardlens::app::report
