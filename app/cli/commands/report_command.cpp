// `shardlens report`: where the time and the memory of one run went.
#include <CLI/CLI.hpp>

#include "app/cli/commands.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/report/report_json.h"
#include "app/report/report_text.h"
#include "app/report/tuning/advice_report.h"
#include "app/session/runs/listed_runs.h"

namespace shardlens::app::cli {
namespace {

struct ReportArguments : CommonArguments {
  std::string run;
  std::string steps;
  bool advice = false;
};

trace::base::Result<report::RunReport> load(const ReportArguments& options) {
  std::optional<report::StepRange> range;
  if (!options.steps.empty()) {
    TRY_ASSIGN(range, report::parse_step_range(options.steps));
  }
  TRY_ASSIGN(const std::filesystem::path run,
             session::find_listed_run(options.run, options.runs_dir));
  return report::load_report(run, range);
}

std::string json_of(const report::RunReport& report, bool with_advice) {
  report::Json json = report::report_json(report);
  if (with_advice) {
    json["advice"] = report::advice_json(report::advice_of(report::whole_run(report)));
  }
  return report::dump_json(json);
}

std::string text_of(const report::RunReport& report, bool with_advice) {
  std::string text = report::report_text(report);
  if (!with_advice) return text;
  const auto whole = report::whole_run(report);
  return text + report::advice_text(report::advice_of(whole), whole.summary.step_ns.mean);
}

trace::base::Result<int> show_report(const ReportArguments& options) {
  TRY_ASSIGN(const auto report, load(options));
  print_result(options.as_json() ? json_of(report, options.advice)
                                 : text_of(report, options.advice));
  const auto& problems = report.figures.info.unreadable;
  for (const std::string& problem : problems) print_message("error: " + problem);
  return problems.empty() ? kDone : kFailed;
}

}  // namespace

void add_report_command(CommandLine& line) {
  const auto [command, options] =
      add_command(line, "report",
                  "Step breakdown, collectives, memory and losses of a recorded run", show_report);
  add_run(*command, options->run);
  command->add_option("--steps", options->steps, "Measure only these steps, both included")
      ->type_name("A..B");
  command->add_flag("--advice", options->advice,
                    "And what would help, by how much, and what it costs");
  add_common(*command, *options);
  command->footer(
      "Figures are means over the measured steps of the mean over ranks; the first skip_steps\n"
      "steps are not measured. exposed is communication that no compute hides.\n"
      "--advice predicts what other settings would do, as `predict` does; docs/ADVICE.md has the "
      "rules.\n"
      "JSON is in milliseconds and bytes; what is unknown is null.\n\n"
      "Examples:\n"
      "  shardlens report \"cap 1\"\n"
      "  shardlens report \"cap 1\" --advice\n"
      "  shardlens report \"cap 1\" --steps 10..20\n"
      "  shardlens report runs/2026-11-20T14-02-31_baseline --json");
}

}  // namespace shardlens::app::cli
