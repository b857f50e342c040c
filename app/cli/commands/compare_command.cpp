// `shardlens compare`: what differs between two runs, and whether it is more than noise.
#include <CLI/CLI.hpp>
#include <memory>

#include "app/cli/commands.h"
#include "app/cli/terminal/exit_code.h"
#include "app/cli/terminal/output.h"
#include "app/launch/program_files.h"
#include "app/report/comparison_report.h"
#include "app/report/run_report.h"
#include "app/session/runs/run_siblings.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::cli {
namespace {

struct CompareArguments {
  std::string first, second;
  std::string format;
  std::filesystem::path runs_dir = "runs";
};

trace::base::Result<trace::analysis::RunFigures> load(const std::string& name,
                                                      const CompareArguments& options) {
  TRY_ASSIGN(const std::filesystem::path run,
             trace::store::find_run(name, options.runs_dir, launch::bundled_runs()));
  return report::load_run(run);
}

int compare(const CompareArguments& options) {
  const auto first = load(options.first, options);
  if (!first) return report_error(first.error());
  const auto second = load(options.second, options);
  if (!second) return report_error(second.error());
  const auto siblings = session::siblings_of(*first, *second, options.runs_dir);
  std::vector<trace::analysis::NoiseRun> others;
  for (const auto& sibling : siblings) others.push_back(session::noise_run(sibling));
  const auto comparison = trace::analysis::compare_runs(*first, *second, others);
  print_result(options.format == "json"
                   ? report::dump_json(report::comparison_json(*first, *second, comparison)) + "\n"
                   : report::comparison_text(*first, *second, comparison));
  return kDone;
}

}  // namespace

void add_compare_command(CLI::App& app, Action& chosen) {
  auto options = std::make_shared<CompareArguments>();
  auto* command =
      app.add_subcommand("compare", "Settings and figures in which two runs differ, against noise");
  command->add_option("FIRST", options->first, "A run's name, its folder or a packed file")
      ->required();
  command->add_option("SECOND", options->second, "The run to compare with it")->required();
  add_format(*command, options->format, {"text", "json"});
  add_runs_dir(*command, options->runs_dir);
  command->footer(
      "Differences are second − first. \"within the spread\" means that chance explains them:\n"
      "runs of the same settings in --runs-dir tell how far two runs lie apart by themselves.\n\n"
      "Example:\n"
      "  shardlens compare baseline \"cap 1\"");
  command->callback([&chosen, options] { chosen = [options] { return compare(*options); }; });
}

}  // namespace shardlens::app::cli
