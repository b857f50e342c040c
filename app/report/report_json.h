// JSON documents, and the report as one: a contract, see `shardlens report --help` and docs.
// Milliseconds and bytes; what is unknown is null. Any thread.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/report/json.h"
#include "app/report/run_report.h"
#include "trace/tuning/prediction.h"

namespace shardlens::app::report {

template <typename Value>
Json known(bool is_known, const Value& value) {
  return is_known ? Json(value) : Json(nullptr);
}

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// null unless finite.
Json number_or_null(double value);
Json ms(double ns);  // likewise, in milliseconds
Json optional_ms(const std::optional<double>& ns);
Json optional_number(const std::optional<double>& value, double factor = 1);
Json optional_bytes(const std::optional<double>& bytes);  // whole ones
Json text_or_null(std::string_view text);                 // null: ""

// {"mean", "low", "high"}
Json estimate_ms(const std::optional<double>& mean_ns,
                 const std::optional<trace::tuning::Interval>& interval);
Json estimate_ms_within(const std::optional<double>& mean_ns,
                        const std::optional<double>& half_width_ns);
Json estimate_percent(const std::optional<double>& mean, const std::optional<double>& low,
                      const std::optional<double>& high);  // of fractions

template <typename Items, typename ToJson>
Json array_of(const Items& items, ToJson to_json) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(to_json(item));
  return array;
}

// Lines for standard output, which must be UTF-8 whatever a damaged file holds.
std::string dump_json(const Json& json);

Json report_json(const RunReport& report);

// Null: loss and gradient norm were finite wherever they were read.
Json first_nonfinite_json(const std::vector<trace::analysis::StepFigures>& steps);

// One knob's value with its own type: 25.0, true, "auto".
Json knob_json(const trace::job::Settings& settings, const trace::job::Knob& knob);
// The values of some knobs, by their names.
Json knobs_json(const trace::job::Settings& settings,
                const std::vector<const trace::job::Knob*>& knobs);
Json settings_json(const trace::job::Settings& settings);

}  // namespace shardlens::app::report
