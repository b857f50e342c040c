// `shardlens tune`: searches for better settings, and runs what is promising.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <map>

#include "app/cli/commands.h"
#include "app/cli/job/job_arguments.h"
#include "app/cli/job/sweep_job.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/search/search.h"
#include "app/search/space.h"
#include "app/session/runs/listed_runs.h"
#include "app/session/sweep/sweep_reader.h"
#include "app/session/tuning/prediction_source.h"
#include "trace/base/spawn.h"
#include "trace/base/text.h"

namespace shardlens::app::cli {
namespace {

using sweep::SweepPoints;
using trace::base::Result;
using trace::job::Settings;

constexpr std::int64_t kSteps = 30;  // of a run, unless asked for: enough to tell its mean
constexpr double kLongestBudgetSeconds = 7 * 24 * 3600;

struct TuneArguments : CommonArguments {
  JobArguments job;
  std::vector<std::string> over;
  std::string goal = "step_time";
  double budget_seconds = 600;
  std::string name;
  bool overwrite = false;
};

Result<Settings> start_of(const TuneArguments& arguments) {
  TRY_ASSIGN(auto given, said_settings_of(arguments.job));
  const bool has_steps = std::ranges::find(given.said, "steps") != given.said.end();
  Settings base = session::with_resumed_run(std::move(given.settings), arguments.runs_dir);
  if (!has_steps && base.epochs == 0) base.steps = base.skip_steps + kSteps;
  return base;
}

search::Goal goal_of(const TuneArguments& arguments) {
  return *trace::base::enum_from_text(arguments.goal, search::kGoals.back());
}

sweep::SweepRequest request_of(const TuneArguments& arguments, const SweepPoints& points) {
  sweep::SweepRequest request;
  request.runs_dir = arguments.runs_dir;
  request.name = arguments.name;
  if (arguments.name.empty()) {
    request.name = sweep::free_name(search::default_name(goal_of(arguments), arguments.over),
                                    points, arguments.runs_dir);
  }
  request.points = points;
  request.repeats = search::kRounds;
  request.stops_early = false;
  request.search = sweep::SearchPlan{goal_of(arguments), arguments.budget_seconds};
  request.overwrite = arguments.overwrite;
  return request;
}

Result<int> tune(const TuneArguments& arguments) {
  launch::StopSignals signals;
  TRY_ASSIGN(const Settings base, start_of(arguments));
  TRY_ASSIGN(auto points, arguments.over.empty() ? search::default_points(base, goal_of(arguments))
                                                 : search::search_points(base, arguments.over));
  auto jobs = sweep::jobs_of(points);
  // Where the search starts.
  if (!jobs.front()) return tl::make_unexpected(jobs.front().error());
  print_left_out(sweep::leave_out_refused(points, jobs, 1), "cannot be run");
  print_left_out(sweep::leave_out_doubles(points, jobs), "do the same as others");
  say_that_nothing_is_saved(points);
  const auto request = request_of(arguments, points);
  TRY_ASSIGN(auto grid, sweep::Sweep::open(request, session::measured_run));
  return run_search(
      grid, signals, session::forecast_sources(session::this_machine()),
      {.banners = common_banners(jobs),
       .command_to_go_on = "the same command with --name " + trace::base::in_shell(request.name),
       .as_json = arguments.as_json()});
}

void add_tune_options(CLI::App& command, TuneArguments& arguments) {
  add_job_arguments(command, arguments.job);
  const std::map<std::string, double> units{{"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
  command.add_option("--budget", arguments.budget_seconds, "How long it may take: 90s, 20m or 2h")
      ->type_name("TIME")
      ->transform(CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::CASE_INSENSITIVE, "TIME"))
      ->check(CLI::Validator(
          [](const std::string& budget) {
            const double seconds = std::strtod(budget.c_str(), nullptr);
            if (!(seconds > 0)) return "it is a time above 0, as 90s";
            return seconds > kLongestBudgetSeconds ? "it is at most a week, 168h" : "";
          },
          ""))
      ->default_str("10m");
  std::vector<std::string> goals;
  for (const auto goal : search::kGoals) goals.emplace_back(search::to_string(goal));
  command
      .add_option(
          "--goal", arguments.goal,
          "What is to become better: lower, or more tokens; tokens_per_s tries other batches, too")
      ->type_name("GOAL")
      ->check(one_of(goals))
      ->capture_default_str();
  add_repeated(command, "--over", arguments.over,
               "Values of one setting to search among, instead of strategies and what serves the "
               "goal with each; of several, all combinations",
               "KEY=V1,V2,…");
  command
      .add_option("--name", arguments.name,
                  "Of the search, and with what its runs are tagged; by default what varies")
      ->type_name("NAME");
  command.add_flag("--overwrite", arguments.overwrite,
                   "Begins anew; each run is replaced when it is recorded again");
  add_json(command, arguments, "Prints the result as JSON, and nothing else");
}

}  // namespace

void add_tune_command(CommandLine& line) {
  const auto [command, arguments] =
      add_command(line, "tune", "Searches for better settings, by predicting first", tune);
  add_tune_options(*command, *arguments);
  command->footer(
      "Runs the settings as they are, predicts all others from that run, and runs what is likely "
      "to\n"
      "win beyond noise, the most promising first; what would not fit in memory is never tried. "
      "In\n"
      "the end the best and the start run again in turns, to tell how sure the gain is.\n\n"
      "Without --over it tries strategies, those with groups of ranks only where the settings\n"
      "make several, and of each what it obeys: for\n"
      "step_time caps of buckets or prefetches and limits of gathers; for memory recomputation "
      "and\n"
      "views of buckets; for tokens_per_s batches, too, which change what a step learns. Other "
      "changes\n"
      "to what is learnt (communication_hook, types of numbers) are tried only if --over says so. "
      "Of\n"
      "what cannot be predicted one run of each kind is tried, and more where that is near the "
      "best.\n\n"
      "Examples:\n"
      "  shardlens tune --set model=tiny --ranks 2 --device cpu --budget 5m\n"
      "  shardlens tune job.yaml --goal tokens_per_s --budget 1h\n"
      "  shardlens tune --over bucket_cap_mb=1,4,25 --over communication_hook=none,bf16_compress");
}

}  // namespace shardlens::app::cli
