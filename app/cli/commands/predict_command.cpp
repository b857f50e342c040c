// `shardlens predict`: what a change of settings would do, from one recorded run.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <utility>

#include "app/cli/commands.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/report/report_json.h"
#include "app/report/tuning/prediction_report.h"
#include "app/session/runs/ledger.h"
#include "app/session/runs/listed_runs.h"
#include "app/settings/settings_input.h"
#include "trace/base/spawn.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::cli {
namespace {

struct PredictArguments : CommonArguments {
  std::string run, settings_file;
  std::vector<std::string> assignments, over;
  bool best = false;
  bool history = false;

  bool has_points() const { return best || !over.empty(); }
  report::GivenCosts costs;
};

// Of runs that were predicted; the figures of no other are read.
int print_history(const PredictArguments& arguments) {
  auto found = session::listed_runs(arguments.runs_dir);
  std::vector<session::LibraryRun> records;
  for (auto& run : found.runs) {
    if (!run.record.info.predicted) continue;
    auto record = session::with_figures(std::move(run));
    if (record) {
      records.push_back(std::move(*record));
    } else {
      found.problems.push_back(record.error().message);
    }
  }
  const auto history = ui::present::prediction_history(session::build_ledger(records, {}));
  print_result(arguments.as_json() ? report::dump_json(report::history_json(history))
                                   : report::history_text(history));
  if (!found.warning.empty()) print_message("warning: " + found.warning);
  for (const auto& problem : found.problems) print_message("error: " + problem);
  return found.problems.empty() ? kDone : kFailed;
}

// As many as recorded, unless others are asked for.
trace::base::Result<std::int64_t> ranks_of(const std::filesystem::path& run,
                                           const PredictArguments& arguments) {
  trace::job::Settings asked;
  TRY_ASSIGN(const auto info, trace::store::read_run_info(run));
  if (info.world_size > 0) asked.ranks = info.world_size;
  for (const auto& assignment : arguments.assignments) {
    TRY(trace::job::set_assignment(asked, assignment));
  }
  return asked.ranks;
}

trace::base::Result<report::AskedSettings> asked_settings(const std::filesystem::path& run,
                                                          const PredictArguments& arguments) {
  report::AskedSettings asked{.from_file = {}, .assignments = arguments.assignments};
  if (arguments.settings_file.empty()) return asked;
  TRY_ASSIGN(const std::int64_t ranks, ranks_of(run, arguments));
  TRY_ASSIGN(auto input, settings::read_settings_input(arguments.settings_file, ranks));
  if (input.foreign) print_lines(trace::frameworks::remarks_text(*input.foreign));
  asked.from_file = [input = std::move(input)](const trace::job::Settings& recorded) {
    return input.foreign ? trace::frameworks::changed_by(*input.foreign, recorded) : input.settings;
  };
  return asked;
}

// The command without what it predicts: the same run, library and costs.
std::string command_words(const PredictArguments& arguments) {
  std::string words = "shardlens predict " + trace::base::in_shell(arguments.run);
  const auto add = [&](const char* option, const std::filesystem::path& value) {
    words += std::string(" ") + option + " " + trace::base::in_shell(value.string());
  };
  if (arguments.runs_dir != PredictArguments{}.runs_dir) add("--runs-dir", arguments.runs_dir);
  if (!arguments.costs.beside.empty()) add("--costs", arguments.costs.beside);
  if (!arguments.costs.instead.empty()) add("--costs-instead", arguments.costs.instead);
  return words;
}

// What is printed.
trace::base::Result<std::string> predicted_text(const std::filesystem::path& run,
                                                const PredictArguments& arguments) {
  const bool as_json = arguments.as_json();
  TRY_ASSIGN(const auto asked, asked_settings(run, arguments));
  if (arguments.has_points()) {
    TRY_ASSIGN(const auto points,
               report::predict_points(run, {asked, arguments.over}, arguments.costs));
    return as_json ? report::dump_json(report::points_json(points))
                   : report::points_text(points, command_words(arguments));
  }
  TRY_ASSIGN(const auto prediction, report::predict_run(run, asked, arguments.costs));
  return as_json ? report::dump_json(report::prediction_json(prediction))
                 : report::prediction_text(prediction);
}

trace::base::Result<int> predict(const PredictArguments& arguments) {
  if (arguments.history) return print_history(arguments);
  if (arguments.run.empty()) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        "Name the run to predict from, or give --history for all predictions so far.");
  }
  TRY_ASSIGN(const auto run, session::find_listed_run(arguments.run, arguments.runs_dir));
  const auto text = predicted_text(run, arguments);
  if (!text) {
    if (arguments.as_json()) {
      print_result(report::dump_json(report::refused_json(arguments.run, text.error().message)));
    }
    return tl::make_unexpected(text.error());
  }
  print_result(*text);
  return kDone;
}

constexpr const char* kPredictFooter =
    "Up to 64 of the recorded steps are gone through again with the other settings, the first\n"
    "with full detail after skip_steps, fewer of a large run: ranks compute what they\n"
    "computed, buckets and units are gathered and reduced when the trainer would, at what the\n"
    "run measured for such sizes, or `shardlens calibrate` before. Can be changed: ranks,\n"
    "batch, length of sequences, accumulation, recomputation, buckets, overlap,\n"
    "communication hook, strategy, units and their prefetch, the type of reductions,\n"
    "simulated link, in any combination. Settings whose effect is not known are left out and\n"
    "named; with nothing else there is no prediction.\n"
    "Of many settings (--over, --best) those that take least per token come first, then what\n"
    "does not fit where the run trained, then why others cannot be predicted. Nothing is run.\n"
    "Of an imported run (PyTorch's profiler, all ranks, record_shapes=True): link, accumulation\n"
    "and, on GPUs, ranks; of DDP also buckets, overlap and hook; of fully_shard and\n"
    "FullyShardedDataParallel the sharding_strategy and prefetches.\n\n"
    "Examples:\n"
    "  shardlens predict base --set bucket_cap_mb=4\n"
    "  shardlens predict base --set sharding_strategy=full_shard --set forward_prefetch=true "
    "--json\n"
    "  shardlens predict base --over bucket_cap_mb=1,4,25 --over overlap_comm=true,false\n"
    "  shardlens predict base --best\n"
    "  shardlens predict base ds_config.json\n"
    "  shardlens run --set bucket_cap_mb=4 --predict-from base\n"
    "  shardlens predict --history";

}  // namespace

void add_predict_command(CommandLine& line) {
  const auto [command, arguments] =
      add_command(line, "predict", "What other settings would do to a recorded run", predict);
  command->add_option("RUN", arguments->run, "A run's name or number, its folder or a packed file");
  command->add_option("SETTINGS", arguments->settings_file,
                      "A flat YAML file of all settings, a ds_config.json, or Accelerate's YAML, "
                      "which\n"
                      "leave the rest as recorded");
  command->add_flag("--history", arguments->history,
                    "All predictions of the library that were made before their runs, and what\n"
                    "these took");
  add_repeated(*command, "--set", arguments->assignments, "One setting; may be given several times",
               "KEY=VALUE");
  auto* over =
      add_repeated(*command, "--over", arguments->over,
                   "Values of one setting, each of which is predicted, the best first; of\n"
                   "several settings all combinations, at most 1,000",
                   "KEY=V1,V2,…");
  command
      ->add_flag("--best", arguments->best,
                 "The same of all that `shardlens tune` would try for a faster step")
      ->excludes(over);
  command
      ->add_option_function<std::string>(
          "--ranks",
          [arguments](const std::string& ranks) {
            arguments->assignments.push_back("ranks=" + ranks);
          },
          "How many processes train together; the same as --set ranks=")
      ->type_name("N");
  command
      ->add_option("--costs", arguments->costs.beside,
                   "What collectives cost that the run did not have, as `shardlens calibrate -o`\n"
                   "writes it; by default what is kept in the library")
      ->type_name("FILE");
  command
      ->add_option("--costs-instead", arguments->costs.instead,
                   "What they cost over another link, also of sizes that the run measured")
      ->type_name("FILE");
  add_common(*command, *arguments);
  command->footer(kPredictFooter);
}

}  // namespace shardlens::app::cli
