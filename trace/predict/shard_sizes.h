// How units are divided over the ranks of a shard group: flat, padded to equal parts. Any thread.
#pragma once

#include <cstdint>

#include "trace/predict/model_sizes.h"
#include "trace/predict/planned_job.h"

namespace shardlens::trace {

struct ShardSizes {
  std::int64_t group = 1;         // ranks that share one set of shards
  bool blocks_are_units = true;   // false: one unit for the whole model
  std::int64_t root_trained = 0;  // values of one shard
  std::int64_t root_frozen = 0;
  std::int64_t block = 0;

  // Values of all shards of one rank.
  std::int64_t trained_values(const ModelSizes& sizes) const;
  std::int64_t frozen_values(const ModelSizes& sizes) const;
};

// Units finer than a block (wrap_policy: size) are counted as their block.
ShardSizes shard_sizes(const PlannedJob& job, const ModelSizes& sizes);

}  // namespace shardlens::trace
