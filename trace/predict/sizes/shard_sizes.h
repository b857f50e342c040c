// How units are divided over the ranks of a shard group: flat, padded to equal parts. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/predict/sizes/model_sizes.h"
#include "trace/predict/sizes/model_units.h"
#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

struct UnitShard {
  ModelUnit unit;
  std::int64_t trained = 0;  // values of one shard
  FrozenBytes frozen;        // of one shard
  // Whole, with padding: what is gathered, one collective for all that is trained and one for each
  // type of what is frozen, in the order of the trainer; and what is reduced.
  std::vector<std::int64_t> gathered_bytes;
  std::int64_t reduced_bytes = 0;
};

struct ShardSizes {
  std::int64_t group = 1;        // ranks that share one set of shards
  std::vector<UnitShard> units;  // as model_units()

  const ModelUnit& root() const { return units.front().unit; }
  // Values of all units of the last block, the one that is frozen last.
  std::int64_t trained_in_block() const;
  // Whether all but the root lie in blocks.
  bool are_of_blocks() const;
  // Of all shards of one rank.
  std::int64_t trained_values() const;
  std::int64_t frozen_bytes() const;
};
ShardSizes shard_sizes(const PlannedJob& job, const ModelSizes& sizes);

// What the optimizer remembers on the rank that holds most of it.
struct OptimizerState {
  std::int64_t values = 0;   // trained values that this rank updates
  std::int64_t tensors = 0;  // each has a counter of its steps
  std::int64_t bytes = 0;
};
OptimizerState optimizer_state(const PlannedJob& job, const ModelSizes& sizes);

}  // namespace shardlens::trace::predict
