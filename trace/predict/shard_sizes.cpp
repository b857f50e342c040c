#include "trace/predict/shard_sizes.h"

#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model/parameter_shapes.h"
#include "trace/model/strategy.h"

namespace shardlens::trace {

namespace {

struct PathAndValues {
  std::string_view path;  // from the module on
  std::int64_t values;
};

// How many values of a module are in units, of which none has fewer than `minimum`. Modules are
// told by the names of their parameters.
std::int64_t wrapped_values(const std::vector<PathAndValues>& parameters, std::int64_t minimum) {
  std::int64_t all = 0, wrapped = 0;
  std::map<std::string_view, std::vector<PathAndValues>> children;
  for (const auto& [path, values] : parameters) {
    all += values;
    const std::size_t dot = path.find('.');
    if (dot == std::string_view::npos) continue;
    children[path.substr(0, dot)].push_back({path.substr(dot + 1), values});
  }
  if (all < minimum) return 0;
  for (const auto& [name, below] : children) wrapped += wrapped_values(below, minimum);
  return all - wrapped >= minimum ? all : wrapped;
}

std::int64_t wrapped_of_block(const ModelShape& shape, std::int64_t minimum) {
  ModelShape one_block = shape;
  one_block.layers = 1;
  const std::vector<ParameterShape> list = parameter_shapes(one_block);
  std::vector<PathAndValues> parameters;
  for (const ParameterShape& each : list) {
    if (each.block == ParameterShape::kRoot) continue;
    // Behind "transformer.h.0." or "model.layers.0."
    parameters.push_back(
        {std::string_view(each.name).substr(each.name.find("0.") + 2), each.numel()});
  }
  return wrapped_values(parameters, minimum);
}

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

// Trained values are the adapters' alone; `size`, which may make units inside of blocks, is counted
// as if blocks were the units.
void count_adapters_alone(UnitSizes& units, const ModelSizes& sizes) {
  const bool has_blocks = units.block > 0;
  units.block = has_blocks ? sizes.trained_block_values() : 0;
  units.root =
      sizes.trained_root_values() + (has_blocks ? 0 : sizes.layers * sizes.trained_block_values());
  units.root_frozen = 0;
}

}  // namespace

UnitSizes unit_sizes(const PlannedJob& job, const ModelSizes& sizes) {
  UnitSizes units;
  const std::string& policy = job.settings.wrap_policy;
  if (policy == "transformer_block") units.block = sizes.block_values();
  if (policy == "size") {
    const std::int64_t minimum = job.settings.min_num_params;
    units.block = wrapped_of_block(job.shape, minimum);
    units.outside = wrapped_outside(job.shape, sizes, sizes.layers * units.block, minimum);
  }
  const std::int64_t rest = sizes.block_values() - units.block;
  units.root = sizes.root_values() + sizes.layers * rest;
  units.root_frozen = sizes.frozen_layers * rest;
  return units;
}

std::int64_t ShardSizes::trained_values(const ModelSizes& sizes) const {
  return root + (sizes.layers - sizes.frozen_layers) * block;
}

std::int64_t ShardSizes::frozen_bytes(const ModelSizes& sizes) const {
  return frozen_root.kept + sizes.blocks_with_frozen_weights() * frozen_block.kept;
}

ShardSizes shard_sizes(const PlannedJob& job, const ModelSizes& sizes) {
  ShardSizes shards;
  shards.group = shard_group_size(job.settings, job.ranks, job.ranks_per_node);
  shards.whole = unit_sizes(job, sizes);
  const std::int64_t all = sizes.block_values();
  std::int64_t in_unit = shards.whole.block;
  if (sizes.is_adapted) {
    if (in_unit > 0) in_unit = all;
    count_adapters_alone(shards.whole, sizes);
  }
  const FrozenBytes in_root =
      sum_of(sizes.frozen_root, share_of(sizes.frozen_block, all - in_unit, all),
             sizes.blocks_with_frozen_weights());
  shards.frozen_root = part_of(in_root, shards.group);
  shards.frozen_block = part_of(share_of(sizes.frozen_block, in_unit, all), shards.group);
  shards.root = part_of(shards.whole.root - shards.whole.root_frozen, shards.group);
  shards.block = part_of(shards.whole.block, shards.group);
  return shards;
}

}  // namespace shardlens::trace
