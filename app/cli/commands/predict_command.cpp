// `shardlens predict`: what a change of settings would do, from one recorded run.
#include <CLI/CLI.hpp>
#include <memory>

#include "app/cli/commands.h"
#include "app/cli/terminal/exit_code.h"
#include "app/cli/terminal/output.h"
#include "app/launch/program_files.h"
#include "app/report/tuning/prediction_report.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::cli {
namespace {

struct PredictArguments {
  std::string run;
  std::vector<std::string> assignments;
  std::string format;
  std::filesystem::path runs_dir = "runs";
};

int predict(const PredictArguments& arguments) {
  const auto run =
      trace::store::find_run(arguments.run, arguments.runs_dir, launch::bundled_runs());
  if (!run) return report_error(run.error());
  const auto prediction = report::predict_run(*run, arguments.assignments);
  const bool as_json = arguments.format == "json";
  if (!prediction) {
    if (as_json) {
      print_result(
          report::dump_json(report::refused_json(arguments.run, prediction.error().message)) +
          "\n");
    }
    return report_error(prediction.error());
  }
  print_result(as_json ? report::dump_json(report::prediction_json(*prediction)) + "\n"
                       : report::prediction_text(*prediction));
  return kDone;
}

}  // namespace

void add_predict_command(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<PredictArguments>();
  auto* command = app.add_subcommand(
      "predict", "What other buckets or another link would do to a recorded DDP run");
  command->add_option("RUN", arguments->run, "A run's name, its folder or a packed file")
      ->required();
  command->add_option("--set", arguments->assignments, "One setting; may be given several times")
      ->type_name("KEY=VALUE");
  add_format(*command, arguments->format, {"text", "json"});
  add_runs_dir(*command, arguments->runs_dir);
  command->footer(
      "Every recorded step is scheduled again: gradients come as they came, buckets are planned "
      "as\n"
      "PyTorch does and reduced one after another, each at the cost that the run measured for its\n"
      "size. bucket_cap_mb, first_bucket_mb, overlap_comm and simulate_link can be changed, of "
      "runs\n"
      "with DDP on the CPU; anything else is refused.\n\n"
      "Examples:\n"
      "  shardlens predict base --set bucket_cap_mb=4\n"
      "  shardlens predict base --set bucket_cap_mb=4 --set first_bucket_mb=0.5 --json");
  command->callback([&chosen, arguments] { chosen = [arguments] { return predict(*arguments); }; });
}

}  // namespace shardlens::app::cli
