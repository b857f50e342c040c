#include "trace/predict/sizes/shard_sizes.h"

#include <algorithm>

#include "trace/job/shape/strategy.h"

namespace shardlens::trace::predict {

namespace {

std::int64_t part_of(std::int64_t values, std::int64_t ranks) {
  return (values + ranks - 1) / ranks;
}

// Parts end between values of 4 bytes.
FrozenBytes part_of(const FrozenBytes& bytes, std::int64_t ranks) {
  const auto part = [&](std::int64_t all) { return 4 * part_of(part_of(all, 4), ranks); };
  return {part(bytes.kept), part(bytes.gathered), part(bytes.cast)};
}

}  // namespace

std::int64_t ShardSizes::trained_in_block() const {
  std::int64_t last = 0, values = 0;
  for (const UnitShard& each : units) last = std::max(last, each.unit.block);
  for (const UnitShard& each : units) values += each.unit.block == last ? each.unit.trained : 0;
  return values;
}

bool ShardSizes::are_of_blocks() const {
  return std::all_of(units.begin() + 1, units.end(),
                     [](const UnitShard& each) { return each.unit.block >= 0; });
}

std::int64_t ShardSizes::trained_values() const {
  std::int64_t values = 0;
  for (const UnitShard& each : units) values += each.trained;
  return values;
}

std::int64_t ShardSizes::frozen_bytes() const {
  std::int64_t bytes = 0;
  for (const UnitShard& each : units) bytes += each.frozen.kept;
  return bytes;
}

ShardSizes shard_sizes(const PlannedJob& job, const ModelSizes& sizes) {
  ShardSizes shards;
  shards.group = job::shard_group_size(job.settings, job.ranks, job.ranks_per_node);
  for (const ModelUnit& unit : model_units(job.shape, job.settings, sizes)) {
    shards.units.push_back(
        {unit, part_of(unit.trained, shards.group), part_of(unit.frozen, shards.group)});
  }
  return shards;
}

}  // namespace shardlens::trace::predict
