// The report as JSON: a contract, see `shardlens report --help` and docs. Milliseconds and bytes;
// what is unknown is null. Any thread.
#pragma once

#include <vector>

#include "app/report/json_values.h"
#include "app/report/run_report.h"

namespace shardlens::app::report {

Json report_json(const RunReport& report);

// Null: loss and gradient norm were finite wherever they were read.
Json first_nonfinite_json(const std::vector<trace::analysis::StepFigures>& steps);

// One knob's value with its own type: 25.0, true, "auto".
Json knob_json(const trace::job::Settings& settings, const trace::job::Knob& knob);
// Of some of them, by name.
Json knobs_json(const trace::job::Settings& settings,
                const std::vector<const trace::job::Knob*>& knobs);
Json settings_json(const trace::job::Settings& settings);

}  // namespace shardlens::app::report
