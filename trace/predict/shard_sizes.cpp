#include "trace/predict/shard_sizes.h"

#include <cmath>

#include "trace/model/strategy.h"

namespace shardlens::trace {

namespace {

// The embeddings, the head and all between them, which is one module. Shared tensors are the
// root's.
std::int64_t wrapped_outside(const ModelShape& shape, const ModelSizes& sizes,
                             std::int64_t in_blocks, std::int64_t minimum) {
  const std::int64_t shared = shape.tied_head ? sizes.embedding : 0;
  const std::int64_t head = shape.tied_head ? 0 : sizes.head;
  const std::int64_t decoder = sizes.all_values() - shared - head;
  std::int64_t wrapped = in_blocks;
  for (const std::int64_t table : {sizes.embedding - shared, sizes.positions}) {
    if (table >= minimum) wrapped += table;
  }
  if (decoder - wrapped >= minimum) wrapped = decoder;
  return wrapped - in_blocks + (head >= minimum ? head : 0);
}

std::int64_t part_of(std::int64_t values, std::int64_t ranks) {
  return (values + ranks - 1) / ranks;
}

// Parts end between values of 4 bytes.
FrozenBytes part_of(const FrozenBytes& bytes, std::int64_t ranks) {
  const auto part = [&](std::int64_t all) { return 4 * part_of(part_of(all, 4), ranks); };
  return {part(bytes.kept), part(bytes.gathered), part(bytes.cast)};
}

FrozenBytes sum_of(const FrozenBytes& a, const FrozenBytes& b, std::int64_t times) {
  return {a.kept + times * b.kept, a.gathered + times * b.gathered, a.cast + times * b.cast};
}

// Of some of a block's values, as if all were kept alike.
FrozenBytes share_of(const FrozenBytes& block, std::int64_t values, std::int64_t all) {
  if (values == all) return block;
  const double share = static_cast<double>(values) / static_cast<double>(all);
  const auto of = [&](std::int64_t bytes) {
    return std::llround(share * static_cast<double>(bytes));
  };
  return {of(block.kept), of(block.gathered), of(block.cast)};
}

}  // namespace

UnitSizes unit_sizes(const PlannedJob& job, const ModelSizes& sizes) {
  UnitSizes units;
  units.of_block = block_units(job.shape, job.settings);
  for (const BlockUnit& each : units.of_block) {
    units.block += each.values;
    units.block_adapters += each.adapters;
  }
  if (job.settings.wrap_policy == "size") {
    units.outside =
        wrapped_outside(job.shape, sizes, sizes.layers * units.block, job.settings.min_num_params);
  }
  const std::int64_t rest = sizes.block_values() - units.block;
  units.root = sizes.root_values() + sizes.layers * rest;
  units.root_frozen = sizes.frozen_layers * rest;
  return units;
}

std::int64_t ShardSizes::block() const {
  std::int64_t values = 0;
  for (const BlockShard& each : of_block) values += each.shard;
  return values;
}

FrozenBytes ShardSizes::frozen_block() const {
  FrozenBytes bytes;
  for (const BlockShard& each : of_block) bytes = sum_of(bytes, each.frozen, 1);
  return bytes;
}

std::int64_t ShardSizes::trained_values(const ModelSizes& sizes) const {
  return root + (sizes.layers - sizes.frozen_layers) * block();
}

std::int64_t ShardSizes::frozen_bytes(const ModelSizes& sizes) const {
  return frozen_root.kept + sizes.blocks_with_frozen_weights() * frozen_block().kept;
}

ShardSizes shard_sizes(const PlannedJob& job, const ModelSizes& sizes) {
  ShardSizes shards;
  shards.group = shard_group_size(job.settings, job.ranks, job.ranks_per_node);
  shards.whole = unit_sizes(job, sizes);
  UnitSizes& whole = shards.whole;
  const std::int64_t all = sizes.block_values();
  for (const BlockUnit& unit : whole.of_block) {
    const std::int64_t trained = sizes.is_adapted ? unit.adapters : unit.values;
    const FrozenBytes frozen = share_of(sizes.frozen_block, unit.values, all);
    shards.of_block.push_back(
        {unit, trained, part_of(trained, shards.group), part_of(frozen, shards.group)});
  }
  const FrozenBytes in_root =
      sum_of(sizes.frozen_root, share_of(sizes.frozen_block, all - whole.block, all),
             sizes.blocks_with_frozen_weights());
  shards.frozen_root = part_of(in_root, shards.group);
  if (sizes.is_adapted) {
    whole.block = whole.block_adapters;
    whole.root = sizes.trained_root_values() +
                 sizes.layers * (sizes.trained_block_values() - whole.block_adapters);
    whole.root_frozen = 0;
  }
  shards.root = part_of(whole.root - whole.root_frozen, shards.group);
  return shards;
}

}  // namespace shardlens::trace
