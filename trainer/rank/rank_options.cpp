#include "trainer/rank/rank_options.h"

#include "trace/base/text.h"

namespace shardlens::trainer::rank {

namespace {

constexpr double kLongestCalibration = 86400;

constexpr std::string_view kHelp =
    R"(shardlens-rank: one rank of a training run, recorded into its own file

Usage
  shardlens-rank --run DIR
      Started by `shardlens run`, which has written the settings into DIR.
  torchrun --standalone --no_python --nproc_per_node=N -- shardlens-rank --settings FILE --run DIR
      Started by torchrun, or by anything that sets the same environment. DIR is
      created and must not exist; afterwards `shardlens report DIR` reads it. Without
      the -- torchrun takes --run for an option of its own.

Options
  --run DIR                     folder of the run: rank N writes rank_N.sqlite into it
  --settings FILE               flat YAML; `shardlens settings` lists every key
  --set KEY=VALUE               one setting, over FILE; may be repeated
  --save-nothing                no checkpoints and no model, whatever the settings say; for runs of
                                sweeps and searches
  --calibrate SECONDS           measure what collectives cost instead of training, as `shardlens
                                calibrate` asks for it
  --describe-model NAME         print a model's shape and parameter count, and leave
  --dump-initial-weights FILE   for verification: write the initial weights that --settings
                                and --set lead to, readable by torch.load, and leave
  --check-text                  say whether texts can be prepared by a model's tokenizer, and leave
  --help, --version

Environment
  RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, MASTER_ADDR, MASTER_PORT
      as torchrun sets them.

SIGTERM and SIGINT let all ranks leave together, after the current step or, with loss_every, the
next whose loss is read; before the ranks have met, they end the one that gets them, which leaves
by the signal where there are others.
Exit codes: 0 done, or stopped on request; 1 the training failed, the last line of standard error
says why; 2 wrong use.
)";

trace::base::Result<double> seconds_of(const std::string& text) {
  const auto seconds = trace::base::number_from<double>(text);
  if (seconds && *seconds > 0 && *seconds <= kLongestCalibration) return *seconds;
  return trace::base::fail(
      trace::base::ErrorKind::kUsage,
      "--calibrate takes a number of seconds up to 86400, not \"" + text + "\".");
}

trace::base::Result<RankOptions> check(RankOptions options) {
  if (options.action == RankOptions::Action::kTrain && options.run.empty()) {
    return trace::base::fail(trace::base::ErrorKind::kUsage,
                             "--run DIR is missing. See shardlens-rank --help.");
  }
  if (options.settings.empty() && !options.assignments.empty() &&
      options.action == RankOptions::Action::kTrain) {
    return trace::base::fail(trace::base::ErrorKind::kUsage,
                             "--set changes a settings file: give --settings FILE too.");
  }
  return options;
}

}  // namespace

std::string_view rank_help() { return kHelp; }

trace::base::Result<RankOptions> parse_rank_options(const std::vector<std::string>& arguments) {
  RankOptions options;
  using Action = RankOptions::Action;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name == "--help" || name == "-h") {
      options.action = Action::kHelp;
      return options;
    }
    if (name == "--check-text") {
      options.action = Action::kCheckText;
      return options;
    }
    if (name == "--version") {
      options.action = Action::kVersion;
      return options;
    }
    if (name == "--save-nothing") {
      options.saves_nothing = true;
      continue;
    }
    const bool known = name == "--run" || name == "--settings" || name == "--set" ||
                       name == "--calibrate" || name == "--describe-model" ||
                       name == "--dump-initial-weights";
    if (!known) {
      return trace::base::fail(trace::base::ErrorKind::kUsage,
                               "Unknown option " + name + ". See shardlens-rank --help.");
    }
    if (i + 1 == arguments.size()) {
      return trace::base::fail(trace::base::ErrorKind::kUsage, name + " needs a value.");
    }
    const std::string& value = arguments[++i];
    if (name == "--run") options.run = value;
    if (name == "--settings") options.settings = value;
    if (name == "--set") options.assignments.push_back(value);
    if (name == "--calibrate") {
      TRY_ASSIGN(options.calibration_seconds, seconds_of(value));
    }
    if (name == "--describe-model") {
      options.model = value;
      options.action = Action::kDescribeModel;
    }
    if (name == "--dump-initial-weights") {
      options.weights = value;
      options.action = Action::kDumpWeights;
    }
  }
  return check(std::move(options));
}

}  // namespace shardlens::trainer::rank
