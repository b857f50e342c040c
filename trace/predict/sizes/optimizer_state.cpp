#include "trace/predict/sizes/optimizer_state.h"

#include "trace/job/shape/strategy.h"
#include "trace/predict/sizes/shard_sizes.h"

namespace shardlens::trace::predict {

namespace {

constexpr std::int64_t kMoments = 2 * 4;  // AdamW: two values in fp32 for each trained one
constexpr std::int64_t kStepCounter = 4;

}  // namespace

OptimizerState optimizer_state(const PlannedJob& job, const ModelSizes& sizes) {
  OptimizerState state;
  const job::StrategyTraits& traits = job::strategy_traits(job.settings.sharding_strategy);
  if (!traits.shards_optimizer) {
    state.values = sizes.trained_values();
    state.tensors = sizes.trained_tensors();
  } else if (!traits.has_units) {
    const LargestShare share = largest_share(sizes.trained(), job.ranks);
    state.values = share.values;
    state.tensors = share.tensors;
  } else {
    const ShardSizes shards = shard_sizes(job, sizes);
    state.values = shards.trained_values();
    state.tensors = sizes.trained_tensors() / shards.group + 1;
  }
  if (job.settings.optimizer == job::OptimizerChoice::kAdamW) {
    state.bytes = kMoments * state.values + kStepCounter * state.tensors;
  }
  return state;
}

}  // namespace shardlens::trace::predict
