// The commands of the program. Each adds itself to the command line; what was asked for is carried
// out after parsing. Main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/command_line.h"
#include "trace/base/result.h"

namespace shardlens::app::cli {

// Words for another program, from behind "--", as they were typed; there once parsing is done.
using HandedOn = std::vector<std::string>;

struct CommandLine {
  CLI::App& app;
  const Surroundings& surroundings;
  HandedOn handed_on{};
  // Filled in by the command that was named; returns the exit code, or an error for whoever calls
  // it to report.
  std::function<trace::base::Result<int>()> chosen{};
};

// A command with its arguments, which live until it is carried out. `run` gets them as they were
// parsed, and returns the exit code or the error to report.
template <typename Arguments>
std::pair<CLI::App*, std::shared_ptr<Arguments>> add_command(
    CommandLine& line, const std::string& name, const std::string& purpose,
    trace::base::Result<int> (*run)(const Arguments&)) {
  auto arguments = std::make_shared<Arguments>();
  auto* command = line.app.add_subcommand(name, purpose);
  command->callback(
      [&line, arguments, run] { line.chosen = [arguments, run] { return run(*arguments); }; });
  return {command, std::move(arguments)};
}

void add_run_command(CommandLine& line);
void add_sweep_command(CommandLine& line);
void add_tune_command(CommandLine& line);
void add_calibrate_command(CommandLine& line);
void add_record_command(CommandLine& line);
void add_runs_command(CommandLine& line);
void add_report_command(CommandLine& line);
void add_compare_command(CommandLine& line);
void add_replay_command(CommandLine& line);
void add_learn_command(CommandLine& line);
void add_screenshot_command(CommandLine& line);
void add_query_command(CommandLine& line);
void add_pack_command(CommandLine& line);
void add_verify_command(CommandLine& line);
void add_import_command(CommandLine& line);
void add_export_command(CommandLine& line);
void add_generate_command(CommandLine& line);
void add_plan_command(CommandLine& line);
void add_predict_command(CommandLine& line);
void add_settings_command(CommandLine& line);
void add_bench_command(CommandLine& line);
void add_doctor_command(CommandLine& line);

}  // namespace shardlens::app::cli
