// What the next run would need under every strategy, worked out before it runs: on this machine,
// and on GPUs that one might have. Plain values, published by `app`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/job/shape/lora.h"
#include "trace/predict/plan/plan.h"
#include "trace/predict/plan/remedies.h"

namespace shardlens::ui::state {

// On this machine, for the bars beside the strategy knob.
struct StrategyEstimates {
  // All strategies, in the order of trace::strategies(); `largest_batch` is not worked out.
  std::vector<trace::predict::StrategyPlan> strategies;
  std::int64_t usable_bytes = 0;  // of one rank; 0: not known
  std::string device;             // whose memory that is: "NVIDIA H100 80GB HBM3"
  trace::job::TrainedShare parameters;
};

// Where a planned job would run, as it was typed or picked.
struct PlanTarget {
  std::string model;  // "": that of the settings
  std::string gpu = "h100-80";
  std::int64_t gpus_per_node = 8;
  std::int64_t nodes = 1;

  bool operator==(const PlanTarget&) const = default;
};

struct PlanCard {
  PlanTarget target;
  std::optional<trace::predict::Plan> plan;  // none: `problem` says why
  std::string problem;
  // So that the strategy of the settings fits; none if it does, or if nothing is enough.
  std::vector<trace::predict::Remedy> remedies;
};

}  // namespace shardlens::ui::state
