// `shardlens run`: trains and records without a window.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "app/cli/commands.h"
#include "app/cli/job/run_job.h"
#include "app/cli/terminal/output.h"
#include "trace/store/run/settings_file.h"

namespace shardlens::app::cli {
namespace {

struct RunArguments {
  std::string settings_file;
  std::vector<std::string> assignments;
  // Short forms of settings, as typed.
  std::optional<std::string> ranks, steps, device, link;
  bool oversubscribe = false;
  std::string name;
  std::filesystem::path runs_dir = "runs";
  bool overwrite = false;
  bool as_json = false;
};

trace::base::Result<trace::job::Settings> settings_of(const RunArguments& options) {
  trace::job::Settings settings;
  if (!options.settings_file.empty()) {
    TRY_ASSIGN(settings, trace::store::read_settings(options.settings_file));
  }
  for (const auto& assignment : options.assignments) {
    TRY(trace::job::set_assignment(settings, assignment));
  }
  const std::pair<const char*, const std::optional<std::string>&> short_forms[] = {
      {"ranks", options.ranks},
      {"steps", options.steps},
      {"device", options.device},
      {"simulate_link", options.link}};
  for (const auto& [key, text] : short_forms) {
    if (text) TRY(trace::job::set_value(settings, key, *text));
  }
  if (options.oversubscribe) settings.oversubscribe = true;
  return settings;
}

int train(const RunArguments& options) {
  launch::JobRequest request;
  auto settings = settings_of(options);
  if (!settings) return report_error(settings.error());
  request.settings = std::move(*settings);
  request.runs_dir = options.runs_dir;
  request.name = options.name;
  request.overwrite = options.overwrite;
  return run_job(request, options.as_json);
}

void add_options(CLI::App& command, RunArguments& options) {
  command.add_option("SETTINGS", options.settings_file, "A flat YAML file of settings");
  command.add_option("--set", options.assignments, "One setting; may be given several times")
      ->type_name("KEY=VALUE")
      // One value each time: what follows may be the settings file.
      ->allow_extra_args(false);
  command.add_option("--ranks", options.ranks, "How many processes train together")->type_name("N");
  command.add_option("--steps", options.steps, "How many optimizer steps")->type_name("N");
  command.add_option("--device", options.device, "auto, cpu or cuda")->type_name("DEVICE");
  command.add_option("--link", options.link, "Simulates a slower link between CPU ranks")
      ->type_name("latency_us=A,gbit_per_s=B");
  command.add_flag("--oversubscribe", options.oversubscribe, "Lets ranks share a GPU");
  command
      .add_option("--name", options.name, "Of the run; by default what differs from the defaults")
      ->type_name("NAME");
  command.add_flag("--overwrite", options.overwrite, "Replaces the run of this name");
  command.add_flag("--json", options.as_json, "Prints the report as JSON, and nothing else");
  add_runs_dir(command, options.runs_dir);
}

}  // namespace

void add_run_command(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<RunArguments>();
  auto* command = app.add_subcommand("run", "Trains and records a job without a window");
  add_options(*command, *options);
  command->footer(
      "Prints a summary and, on the last line, the run's folder. Ctrl-C stops all ranks after the\n"
      "same step and keeps the run. `shardlens settings` lists every setting.\n\n"
      "Examples:\n"
      "  shardlens run --set bucket_cap_mb=1 --ranks 2 --steps 30 --device cpu\n"
      "  shardlens run job.yaml --name \"cap 1\" --overwrite\n"
      "  shardlens run --link latency_us=50,gbit_per_s=1 --set overlap_comm=false");
  command->callback([&chosen, options] { chosen = [options] { return train(*options); }; });
}

}  // namespace shardlens::app::cli
