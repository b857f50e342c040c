// How units are divided over the ranks of a shard group: flat, padded to equal parts. Any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/predict/block_units.h"
#include "trace/predict/model_sizes.h"
#include "trace/predict/planned_job.h"

namespace shardlens::trace {

// Values of the units of a model, as trainer/fsdp/unit_plan chooses them. Those outside of blocks,
// which wrap_policy `size` may choose, are counted with the root: what is gathered at a time is
// then less than what is predicted.
struct UnitSizes {
  std::vector<BlockUnit> of_block;
  // Of all units of one block, with adapters of these alone; the rest of it belongs to the root.
  std::int64_t block = 0;
  std::int64_t block_adapters = 0;
  std::int64_t outside = 0;      // of units outside of blocks, without the root unit itself
  std::int64_t root = 0;         // all that is not in blocks' units, `outside` included
  std::int64_t root_frozen = 0;  // of `root`
};
UnitSizes unit_sizes(const PlannedJob& job, const ModelSizes& sizes);

struct BlockShard {
  BlockUnit unit;
  std::int64_t trained = 0;  // values of the whole unit
  std::int64_t shard = 0;    // of one shard
  FrozenBytes frozen;        // as well
};

struct ShardSizes {
  std::int64_t group = 1;  // ranks that share one set of shards
  UnitSizes whole;         // with adapters of these alone
  // Of one shard: trained values and frozen weights of the root unit.
  std::int64_t root = 0;
  FrozenBytes frozen_root;
  std::vector<BlockShard> of_block;  // of a block that has such

  bool blocks_are_units() const { return !of_block.empty(); }
  // Of one shard of a block that is trained, or has frozen weights.
  std::int64_t block() const;
  FrozenBytes frozen_block() const;
  // Of all shards of one rank.
  std::int64_t trained_values(const ModelSizes& sizes) const;
  std::int64_t frozen_bytes(const ModelSizes& sizes) const;
};
ShardSizes shard_sizes(const PlannedJob& job, const ModelSizes& sizes);

}  // namespace shardlens::trace
