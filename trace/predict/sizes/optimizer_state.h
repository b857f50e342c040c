// What the optimizer remembers on the rank that holds most of it. Any thread.
#pragma once

#include <cstdint>

#include "trace/predict/sizes/model_sizes.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

struct OptimizerState {
  std::int64_t values = 0;   // trained values that this rank updates
  std::int64_t tensors = 0;  // each has a counter of its steps
  std::int64_t bytes = 0;
};

OptimizerState optimizer_state(const PlannedJob& job, const ModelSizes& sizes);

}  // namespace shardlens::trace::predict
