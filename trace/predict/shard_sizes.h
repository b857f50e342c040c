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
  UnitSizes whole;         // with adapters of these alone
  // Of one shard: trained values of the root unit and of a block that is trained.
  std::int64_t root = 0, block = 0;
  // Of one shard: frozen weights in the root unit and in a block that has some.
  FrozenBytes frozen_root, frozen_block;

  bool blocks_are_units() const { return whole.block > 0; }
  // Of all shards of one rank.
  std::int64_t trained_values(const ModelSizes& sizes) const;
  std::int64_t frozen_bytes(const ModelSizes& sizes) const;
};
ShardSizes shard_sizes(const PlannedJob& job, const ModelSizes& sizes);

}  // namespace shardlens::trace
