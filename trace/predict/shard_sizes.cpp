#include "trace/predict/shard_sizes.h"

#include "trace/model/strategy.h"

namespace shardlens::trace {

namespace {

std::int64_t part_of(std::int64_t values, std::int64_t ranks) {
  return (values + ranks - 1) / ranks;
}

}  // namespace

std::int64_t ShardSizes::trained_values(const ModelSizes& sizes) const {
  if (!blocks_are_units) return root_trained;
  return root_trained + (sizes.layers - sizes.frozen_layers) * block;
}

std::int64_t ShardSizes::frozen_values(const ModelSizes& sizes) const {
  return blocks_are_units ? sizes.frozen_layers * block : root_frozen;
}

ShardSizes shard_sizes(const PlannedJob& job, const ModelSizes& sizes) {
  ShardSizes shards;
  shards.group = shard_group_size(job.settings, job.ranks, job.ranks_per_node);
  const bool is_size = job.settings.wrap_policy == "size";
  shards.blocks_are_units = job.settings.wrap_policy == "transformer_block" ||
                            (is_size && sizes.block_values() >= job.settings.min_num_params);
  if (shards.blocks_are_units) {
    shards.root_trained = part_of(sizes.root_values(), shards.group);
    shards.block = part_of(sizes.block_values(), shards.group);
  } else {
    shards.root_trained = part_of(sizes.trained_values(), shards.group);
    shards.root_frozen = part_of(sizes.all_values() - sizes.trained_values(), shards.group);
  }
  return shards;
}

}  // namespace shardlens::trace
