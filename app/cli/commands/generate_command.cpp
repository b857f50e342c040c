// `shardlens generate`: a made-up run of any size, to try the program or measure it with.
#include <CLI/CLI.hpp>

#include "app/cli/commands.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/cli/terminal/stop_request.h"
#include "app/report/report_json.h"
#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/synthetic/synthetic_run.h"

namespace shardlens::app::cli {
namespace {

struct GenerateArguments : CommonArguments {
  trace::synthetic::SyntheticRunOptions options;
};

double million_per_second(const trace::synthetic::SyntheticRun& run) {
  return static_cast<double>(run.events) / 1e6 / std::max(run.seconds, 1e-9);
}

std::string generated_text(const trace::synthetic::SyntheticRun& run, int ranks) {
  return run.folder.string() + ": " + trace::base::grouped(run.events) + " events, " +
         trace::base::counted(run.steps, "step") + " of " + trace::base::counted(ranks, "rank") +
         trace::base::formatted(", %.1f s, %.1f M events/s\n", run.seconds,
                                million_per_second(run));
}

trace::base::Result<int> generate(const GenerateArguments& arguments) {
  auto options = arguments.options;
  if (options.name.empty()) {
    return trace::base::fail(trace::base::ErrorKind::kUsage, "A run needs a name: give one");
  }
  StopRequest stop("writing");
  options.progress = stop.progress();
  options.begun = [&](const auto& folder) { stop.remove_if_ended(folder); };
  options.whole = [&] { stop.keep_all(); };
  TRY_ASSIGN(const auto run,
             stop.ended(trace::synthetic::generate_run(arguments.runs_dir, options)));
  print_result(arguments.as_json()
                   ? report::dump_json({{"run", run.folder.string()},
                                        {"ranks", options.ranks},
                                        {"steps", run.steps},
                                        {"events", run.events},
                                        {"seconds", run.seconds},
                                        {"million_events_per_s", million_per_second(run)}})
                   : generated_text(run, options.ranks));
  return kDone;
}

}  // namespace

void add_generate_command(CommandLine& line) {
  const auto [command, arguments] =
      add_command(line, "generate", "Makes up a run of any size, to measure with", generate);
  auto& options = arguments->options;
  command->add_option("NAME", options.name, "Of the run")->required();
  command->add_option("--ranks", options.ranks, "How many ranks")->capture_default_str();
  command
      ->add_option("--events", options.events,
                   "Kernels, launches, operators, copies, allocations and collectives of all ranks "
                   "together, to the nearest step below, at least one")
      ->capture_default_str();
  command->add_option("--seed", options.seed, "Other numbers, other durations")
      ->capture_default_str();
  command->add_flag("--overwrite", options.overwrite, "Replaces a run of that name");
  add_common(*command, *arguments);
  command->footer(
      "A language model of 24 blocks under DDP: about 2,200 kernels per step and rank, their\n"
      "launches and operators, one all-reduce per block, a slow rank and a slow link now and\n"
      "then. The same options give the same events.\n\n"
      "Example:\n"
      "  shardlens generate big --ranks 8 --events 10000000");
}

}  // namespace shardlens::app::cli
