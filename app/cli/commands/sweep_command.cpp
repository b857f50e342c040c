// `shardlens sweep`: one job with many settings, repeated in random order, and which of them is
// best.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "app/cli/commands.h"
#include "app/cli/job/job_arguments.h"
#include "app/cli/job/sweep_job.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/session/runs/listed_runs.h"
#include "app/session/sweep/sweep_reader.h"
#include "trace/base/spawn.h"
#include "trace/store/run/settings_file.h"

namespace shardlens::app::cli {
namespace {

using sweep::SweepPoints;
using trace::base::ErrorKind;
using trace::base::Result;

struct SweepArguments : CommonArguments {
  JobArguments job;
  std::vector<std::string> over;
  std::string points_file;
  std::optional<int> repeats;
  std::optional<std::uint64_t> seed;
  bool keeps_on = false;  // also with what cannot win
  bool skips_refused = false;
  bool retries_failed = false;
  std::string name, resumed;
  bool overwrite = false;
};

tl::unexpected<trace::base::Error> wrong_use(std::string message) {
  return trace::base::fail(ErrorKind::kUsage, std::move(message));
}

Result<void> check_use(const SweepArguments& arguments) {
  const bool is_grid = !arguments.over.empty(), is_list = !arguments.points_file.empty();
  if (is_grid && is_list) {
    return wrong_use("--over is a grid and --points a list: give one of them.");
  }
  const bool says_what = is_grid || is_list || !arguments.job.settings_file.empty() ||
                         !knobs_given(arguments.job).empty();
  if (arguments.resumed.empty()) {
    if (is_grid || is_list) return {};
    return wrong_use(
        "Say what is to vary, as in --over bucket_cap_mb=1,4,25 or --points FILE, or go on with a "
        "sweep: --resume NAME.");
  }
  const bool says_how = !arguments.name.empty() || arguments.overwrite || arguments.skips_refused;
  if (!says_what && !says_how) return {};
  return wrong_use(
      "--resume goes on with what the sweep began: give no settings, --over, --points, --name, "
      "--skip-refused or --overwrite with it.");
}

Result<SweepPoints> points_asked_for(const SweepArguments& arguments) {
  TRY_ASSIGN(auto given, settings_of(arguments.job));
  const auto base = session::with_resumed_run(std::move(given), arguments.runs_dir);
  SweepPoints points;
  if (!arguments.over.empty()) {
    TRY_ASSIGN(points, sweep::grid_of(base, arguments.over));
  } else {
    TRY_ASSIGN(const auto lists, trace::store::read_setting_lists(arguments.points_file));
    TRY_ASSIGN(points, sweep::points_of(base, lists));
  }
  for (const auto* knob : knobs_given(arguments.job)) {
    if (std::ranges::find(points.varied, knob) == points.varied.end()) continue;
    return wrong_use(std::string(knob->name) +
                     " is set and varied at once: leave out one of them.");
  }
  return points;
}

// Each refused point with its reason; once for all points where they have the same.
std::string refusals_text(const SweepPoints& points, const sweep::PointJobs& jobs) {
  std::string text;
  std::set<std::string> reasons;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::string reason = jobs[i] ? "" : jobs[i].error().message;
    reasons.insert(reason);
    if (!jobs[i]) text += "\n  " + sweep::point_text(points, i) + ": " + reason;
  }
  return jobs.size() > 1 && reasons.size() == 1 ? "\n  every point: " + *reasons.begin() : text;
}

// False: refused, which was said. Those of a sweep that is resumed stay its points.
bool leave_out_refused(SweepPoints& points, sweep::PointJobs& jobs,
                       const SweepArguments& arguments) {
  const std::string reasons = refusals_text(points, jobs);
  const std::size_t count = jobs.size();
  const std::size_t refused = sweep::leave_out_refused(points, jobs, 0).size();
  if (refused == 0) return true;
  if (arguments.skips_refused && !jobs.empty()) {
    print_lines("Left out, as it cannot be run:" + reasons);
    return true;
  }
  print_lines("error: nothing was started, as " + std::to_string(refused) + " of " +
              std::to_string(count) + " points cannot be run:" + reasons);
  if (!arguments.resumed.empty()) {
    print_message("Undo what has changed since the sweep began, or begin another one without them");
  } else if (!jobs.empty()) {
    print_message("Change them, or leave them out with --skip-refused");
  }
  return false;
}

std::string command_to_go_on(const std::string& name, const std::filesystem::path& runs_dir) {
  return "shardlens sweep --resume " + trace::base::in_shell(name) +
         (runs_dir == "runs" ? "" : " --runs-dir " + trace::base::in_shell(runs_dir.string()));
}

tl::unexpected<trace::base::Error> is_a_search(const std::string& name) {
  return wrong_use(
      "'" + name +
      "' is a search, which does not run all points: go on with shardlens tune and its "
      "options, or resume it in the window.");
}

// What is to be run, by this command or by the one that began the sweep.
Result<SweepPoints> wanted_points(const SweepArguments& arguments) {
  TRY(check_use(arguments));
  if (arguments.resumed.empty()) return points_asked_for(arguments);
  TRY_ASSIGN(auto there, sweep::read_sweep(arguments.runs_dir, arguments.resumed));
  if (there.plan.search) return is_a_search(arguments.resumed);
  return std::move(there.plan.points);
}

sweep::SweepRequest request_of(const SweepArguments& arguments, SweepPoints points) {
  sweep::SweepRequest request;
  request.runs_dir = arguments.runs_dir;
  request.repeats = arguments.repeats;
  request.seed = arguments.seed;
  if (arguments.keeps_on) request.stops_early = false;
  request.overwrite = arguments.overwrite;
  request.retries_failed = arguments.retries_failed;
  if (!arguments.resumed.empty()) {
    request.name = arguments.resumed;
    return request;
  }
  request.name = arguments.name.empty()
                     ? sweep::free_name(sweep::default_name(points), points, arguments.runs_dir)
                     : arguments.name;
  request.points = std::move(points);
  return request;
}

Result<int> sweep_over(const SweepArguments& arguments) {
  launch::StopSignals signals;
  TRY_ASSIGN(auto points, wanted_points(arguments));
  auto jobs = sweep::jobs_of(points);
  const bool is_new = arguments.resumed.empty();
  if (!leave_out_refused(points, jobs, arguments)) return kWrongUse;
  if (is_new) print_left_out(sweep::leave_out_doubles(points, jobs), "do the same as others");
  say_that_nothing_is_saved(points);
  const auto request = request_of(arguments, std::move(points));
  TRY_ASSIGN(auto sweep, sweep::Sweep::open(request, session::measured_run));
  return run_sweep(sweep, signals,
                   {.banners = common_banners(jobs),
                    .command_to_go_on = command_to_go_on(request.name, arguments.runs_dir),
                    .as_json = arguments.as_json()});
}

void add_sweep_options(CLI::App& command, SweepArguments& arguments) {
  add_job_arguments(command, arguments.job);
  add_repeated(command, "--over", arguments.over,
               "Values of one setting; of several, all combinations are run. Values that "
               "contain commas are separated by ; or given one by one",
               "KEY=V1,V2,…");
  command
      .add_option("--points", arguments.points_file,
                  "A YAML list of what each point changes, instead of a grid")
      ->type_name("FILE");
  command
      .add_option("--repeat", arguments.repeats, "How often each point is run; by default twice")
      ->type_name("N")
      ->check(CLI::Range(1, sweep::kMostRepeats));
  command
      .add_option("--name", arguments.name,
                  "Of the sweep, and with what its runs are tagged; by default what varies")
      ->type_name("NAME");
  command.add_option("--resume", arguments.resumed, "Goes on with the sweep of this name")
      ->type_name("NAME");
  command.add_option("--seed", arguments.seed, "Of the random order (a job's own: --set seed=N)")
      ->type_name("N");
  command.add_flag(
      "--no-early-stop", arguments.keeps_on,
      "Repeats also points that cannot win any more, which end early with --repeat 3 or more");
  command.add_flag("--skip-refused", arguments.skips_refused,
                   "Leaves out points whose settings contradict each other, instead of refusing");
  command.add_flag("--retry-failed", arguments.retries_failed,
                   "Runs points again that failed twice; what failed once is tried again anyway, "
                   "when all others are done");
  command.add_flag(
      "--overwrite", arguments.overwrite,
      "Replaces the sweep of this name, and each of its runs when it is recorded anew");
  add_json(command, arguments, "Prints the result as JSON, and nothing else");
}

}  // namespace

void add_sweep_command(CommandLine& line) {
  const auto [command, arguments] =
      add_command(line, "sweep", "Tries many settings and tells which is best", sweep_over);
  add_sweep_options(*command, *arguments);
  command->footer(
      "Every round runs each point once, in a random order of its own, so that what drifts meets\n"
      "all of them alike. Stopped with Ctrl-C or killed, the same command goes on where it was, "
      "and\n"
      "so does --resume: what is finished counts, nothing runs twice.\n\n"
      "Examples:\n"
      "  shardlens sweep --over bucket_cap_mb=1,4,25 --ranks 2 --steps 40 --name caps\n"
      "  shardlens sweep --over sharding_strategy=ddp,full_shard --over batch_per_rank=4,8\n"
      "  shardlens sweep --over 'simulate_link=off;latency_us=50,gbit_per_s=1' --repeat 3\n"
      "  shardlens sweep job.yaml --points points.yaml --json   # - {bucket_cap_mb: 4, ranks: 2}\n"
      "  shardlens sweep --resume caps --repeat 4");
}

}  // namespace shardlens::app::cli
