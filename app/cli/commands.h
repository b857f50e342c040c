// The commands of the program. Each adds itself to the command line; what was asked for is carried
// out after parsing. Main thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "trace/base/result.h"

namespace CLI {
class App;
}

namespace shardlens::app::cli {

struct Surroundings;

// Filled in by the command that was named; returns the exit code, or an error for whoever calls it
// to report.
using Action = std::function<trace::base::Result<int>()>;
// Words for another program, from behind "--", as they were typed; there once parsing is done.
using HandedOn = std::vector<std::string>;

void add_run_command(CLI::App& app, Action& chosen);
void add_sweep_command(CLI::App& app, Action& chosen);
void add_tune_command(CLI::App& app, Action& chosen);
void add_calibrate_command(CLI::App& app, Action& chosen);
void add_record_command(CLI::App& app, Action& chosen, const HandedOn& handed_on);
void add_runs_command(CLI::App& app, Action& chosen);
void add_report_command(CLI::App& app, Action& chosen);
void add_compare_command(CLI::App& app, Action& chosen);
void add_replay_command(CLI::App& app, Action& chosen, const Surroundings& surroundings);
void add_learn_command(CLI::App& app, Action& chosen, const Surroundings& surroundings);
void add_screenshot_command(CLI::App& app, Action& chosen);
void add_query_command(CLI::App& app, Action& chosen);
void add_verify_command(CLI::App& app, Action& chosen);
void add_export_command(CLI::App& app, Action& chosen);
void add_generate_command(CLI::App& app, Action& chosen);
void add_import_command(CLI::App& app, Action& chosen);
void add_pack_command(CLI::App& app, Action& chosen);
void add_plan_command(CLI::App& app, Action& chosen);
void add_predict_command(CLI::App& app, Action& chosen);
void add_settings_command(CLI::App& app, Action& chosen);
void add_bench_command(CLI::App& app, Action& chosen, const HandedOn& handed_on);
void add_doctor_command(CLI::App& app, Action& chosen, bool has_display);

}  // namespace shardlens::app::cli
