// `shardlens compare`: what differs between runs, whether it is more than noise, what explains it.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "app/cli/commands.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/report/comparison_report.h"
#include "app/report/report_json.h"
#include "app/report/run_report.h"
#include "app/session/compare/comparison_reader.h"
#include "app/session/runs/listed_runs.h"
#include "trace/base/file_system.h"

namespace shardlens::app::cli {
namespace {

namespace fs = std::filesystem;
using trace::analysis::kFewestCompared;
using trace::analysis::kMostCompared;
using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::Result;

struct CompareArguments : CommonArguments {
  std::vector<std::string> names;
};

Result<void> check_number(std::size_t runs) {
  if (runs >= kFewestCompared && runs <= kMostCompared) return {};
  return fail(ErrorKind::kUsage, "compare takes " + std::to_string(kFewestCompared) + " to " +
                                     std::to_string(kMostCompared) + " runs, and " +
                                     std::to_string(runs) + (runs == 1 ? " is" : " are") +
                                     " named. `shardlens runs` lists what there is.");
}

Result<std::vector<fs::path>> find_runs(const CompareArguments& options) {
  TRY(check_number(options.names.size()));
  std::vector<fs::path> runs;
  for (const std::string& name : options.names) {
    TRY_ASSIGN(fs::path run, session::find_listed_run(name, options.runs_dir));
    if (std::ranges::any_of(
            runs, [&](const fs::path& other) { return trace::base::is_same_file(run, other); })) {
      return fail(ErrorKind::kUsage,
                  "The run \"" + name + "\" is named twice: a run does not differ from itself.");
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

Result<report::ComparedRuns> read_runs(const CompareArguments& options) {
  TRY_ASSIGN(const std::vector<fs::path> places, find_runs(options));
  report::ComparedRuns compared;
  std::vector<trace::analysis::NamedTimes> times;
  for (const fs::path& place : places) {
    TRY_ASSIGN(auto figures, report::load_run(place));
    // A run whose events cannot be read is compared by its figures alone.
    times.push_back(session::read_named_times(figures).value_or(trace::analysis::NamedTimes{}));
    compared.runs.push_back(std::move(figures));
  }
  const auto& base = compared.runs.front();
  for (std::size_t i = 1; i < compared.runs.size(); ++i) {
    const auto& run = compared.runs[i];
    const auto siblings = session::siblings_of(base, run, options.runs_dir);
    compared.differences.push_back(trace::analysis::difference_between(
        {base, &times[0]}, {run, &times[i]}, session::noise_runs(siblings)));
  }
  return compared;
}

Result<int> compare(const CompareArguments& options) {
  TRY_ASSIGN(const auto compared, read_runs(options));
  print_result(options.as_json() ? report::dump_json(report::comparison_json(compared))
                                 : report::comparison_text(compared));
  return kDone;
}

}  // namespace

void add_compare_command(CommandLine& line) {
  const auto [command, options] = add_command(
      line, "compare", "How two to six runs differ, whether that is noise, and what explains it",
      compare);
  command
      ->add_option("RUN", options->names,
                   "Runs' names, their folders or packed files; the first is what the others are\n"
                   "compared with")
      ->required();
  add_common(*command, *options);
  command->footer(
      "Differences are from the first run. \"within noise\" means that chance explains them:\n"
      "runs of the same settings in --runs-dir tell how far two runs lie apart by themselves.\n\n"
      "Examples:\n"
      "  shardlens compare baseline \"cap 1\"\n"
      "  shardlens compare baseline \"cap 1\" \"cap 4\" --json");
}

}  // namespace shardlens::app::cli
