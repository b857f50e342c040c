// `shardlens run`: trains and records without a window.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>

#include "app/cli/commands.h"
#include "app/cli/job/job_arguments.h"
#include "app/cli/job/run_job.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/launch/device_probe.h"
#include "app/launch/job_request.h"
#include "app/report/tuning/predicted_run.h"
#include "app/session/runs/listed_runs.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::app::cli {
namespace {

struct RunArguments : CommonArguments {
  JobArguments job;
  std::string name;
  std::string predict_from;  // a run; "": nothing is predicted
  bool overwrite = false;
};

// What was asked for on purpose must not be thought to have been tried. A file may also write down
// what is so anyway.
void say_what_has_no_effect(const JobArguments& arguments, trace::store::SaidSettings given) {
  trace::job::Settings& settings = given.settings;
  const bool may_be_gpu = settings.device == trace::job::DeviceChoice::kAuto;
  if (launch::runs_on_cpu(settings, may_be_gpu ? launch::probe_cuda() : launch::CudaProbe{})) {
    settings.device = trace::job::DeviceChoice::kCpu;
  }
  const auto by_argument = knobs_given(arguments);
  for (const trace::job::Knob& knob : trace::job::knobs()) {
    const bool is_said = std::ranges::find(given.said, knob.name) != given.said.end();
    const bool is_asked = std::ranges::find(by_argument, &knob) != by_argument.end() ||
                          value_text(settings, knob) != default_text(knob);
    if (!is_said || !is_asked) continue;
    const std::string with = trace::job::without_effect_with(knob, settings);
    if (!with.empty()) print_message(std::string(knob.name) + " has no effect with " + with);
  }
}

trace::base::Result<int> train(const RunArguments& options) {
  launch::JobRequest request;
  TRY_ASSIGN(auto given, said_settings_of(options.job));
  say_what_has_no_effect(options.job, given);
  request.settings = session::with_resumed_run(std::move(given.settings), options.runs_dir);
  request.runs_dir = options.runs_dir;
  request.name = options.name;
  request.overwrite = options.overwrite;
  if (!options.predict_from.empty()) {
    TRY_ASSIGN(const auto run,
               session::find_listed_run(options.predict_from, options.runs_dir, {}));
    TRY_ASSIGN(request.predicted, report::predict_job(run, request.settings, launch::probe_cuda()));
    if (!request.predicted) {
      print_message("Nothing differs from " + options.predict_from +
                    " that changes a step's time, so no prediction is kept");
    }
  }
  return run_job(request, options.as_json());
}

void add_options(CLI::App& command, RunArguments& options) {
  add_job_arguments(command, options.job);
  command
      .add_option("--name", options.name, "Of the run; by default what differs from the defaults")
      ->type_name("NAME");
  command
      .add_option("--predict-from", options.predict_from,
                  "Predicts the new run's step time from this run before it starts;\n"
                  "`predict --history` holds it against what was measured")
      ->type_name("RUN");
  command.add_flag("--overwrite", options.overwrite, "Replaces the run of this name");
  add_json(command, options, "Prints the report as JSON, and nothing else");
}

}  // namespace

void add_run_command(CommandLine& line) {
  const auto [command, options] =
      add_command(line, "run", "Trains and records a job without a window", train);
  add_options(*command, *options);
  command->footer(
      "Prints a summary and, on the last line, the run's folder. Ctrl-C stops all ranks after the\n"
      "same step, with loss_every the next whose loss is read, and keeps the run; the second one\n"
      "kills them. `shardlens settings` lists every setting.\n\n"
      "Examples:\n"
      "  shardlens run --set bucket_cap_mb=1 --ranks 2 --steps 30 --device cpu\n"
      "  shardlens run job.yaml --name \"cap 1\" --overwrite\n"
      "  shardlens run --link latency_us=50,gbit_per_s=1 --set overlap_comm=false");
}

}  // namespace shardlens::app::cli
