// The command line of shardlens-rank. Plain values.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"

namespace shardlens::trainer::rank {

struct RankOptions {
  enum class Action { kTrain, kHelp, kVersion, kDescribeModel, kDumpWeights, kCheckText };
  Action action = Action::kTrain;
  std::filesystem::path run;             // the run's folder
  std::filesystem::path settings;        // empty: read them from the run's folder
  std::vector<std::string> assignments;  // key=value, over the settings file
  // Measures what collectives cost for so long, instead of training.
  std::optional<double> calibration_seconds;
  bool saves_nothing = false;     // whatever the settings say
  std::string model;              // of --describe-model
  std::filesystem::path weights;  // of --dump-initial-weights
};

// Error kUsage: an unknown option, a missing value, or nothing to do.
trace::base::Result<RankOptions> parse_rank_options(const std::vector<std::string>& arguments);
std::string_view rank_help();

}  // namespace shardlens::trainer::rank
