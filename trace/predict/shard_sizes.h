// How units are divided over the ranks of a shard group: flat, padded to equal parts. Any thread.
#pragma once

#include <cstdint>

#include "trace/predict/model_sizes.h"
#include "trace/predict/planned_job.h"

namespace shardlens::trace {

// Values of the units of a model, as trainer/fsdp/unit_plan chooses them. Units inside a block are
// counted together, and so are those outside of blocks, which wrap_policy `size` may choose: what
// is gathered at a time is then less than what is predicted.
struct UnitSizes {
  std::int64_t block = 0;        // of one block; the rest of it belongs to the root
  std::int64_t outside = 0;      // of units outside of blocks, without the root unit itself
  std::int64_t root = 0;         // all that is not in blocks' units, `outside` included
  std::int64_t root_frozen = 0;  // of `root`
};
UnitSizes unit_sizes(const PlannedJob& job, const ModelSizes& sizes);

struct ShardSizes {
  std::int64_t group = 1;  // ranks that share one set of shards
  UnitSizes whole;
  // Values of one shard.
  std::int64_t root_trained = 0, root_frozen = 0;
  std::int64_t block = 0;

  // Of one shard where adapters are trained: bytes of frozen weights.
  FrozenBytes frozen_root_bytes, frozen_block_bytes;

  bool blocks_are_units() const { return whole.block > 0; }
  // Values of all shards of one rank.
  std::int64_t trained_values(const ModelSizes& sizes) const;
  std::int64_t frozen_values(const ModelSizes& sizes) const;
};
ShardSizes shard_sizes(const PlannedJob& job, const ModelSizes& sizes);

}  // namespace shardlens::trace
