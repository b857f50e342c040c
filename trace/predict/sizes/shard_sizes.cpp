#include "trace/predict/sizes/shard_sizes.h"

#include <algorithm>
#include <array>

#include "trace/base/median.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/strategy.h"
#include "trace/predict/sizes/planned_job.h"

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

// As trainer/strategy/fsdp/sharded_unit orders its buffers: trained ones first, then by PyTorch's
// number of their type. 4-bit values are cut between their blocks.
std::vector<std::int64_t> gathers_of(const ModelUnit& unit, const ElementBytes& bytes,
                                     std::int64_t ranks) {
  struct Type {
    job::KeptType type;
    std::int64_t kept, gathered;  // bytes of what is not cut
  };
  const std::array<Type, job::kKeptTypes> types{
      Type{job::KeptType::kNf4, job::kNf4BlockBytes, job::kNf4BlockBytes},
      Type{job::KeptType::kFp32, 4, bytes.gathered}, Type{job::KeptType::kBf16, 2, 2}};
  std::vector<std::int64_t> gathers;
  const auto add = [&](std::int64_t pieces, std::int64_t piece_bytes) {
    if (pieces > 0) gathers.push_back(piece_bytes * ranks * part_of(pieces, ranks));
  };
  add(unit.trained, bytes.gathered);
  for (const Type& each : types) {
    add(unit.frozen_bytes[static_cast<std::size_t>(each.type)] / each.kept, each.gathered);
  }
  return gathers;
}

constexpr std::int64_t kMoments = 2 * 4;  // AdamW: two values in fp32 for each trained one
constexpr std::int64_t kStepCounter = 4;

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

std::int64_t ShardSizes::trained_values() const { return base::sum_of(units, &UnitShard::trained); }

std::int64_t ShardSizes::frozen_bytes() const {
  return base::sum_of(units, [](const UnitShard& each) { return each.frozen.kept; });
}

ShardSizes shard_sizes(const PlannedJob& job, const ModelSizes& sizes) {
  ShardSizes shards;
  shards.group = job::shard_group_size(job.settings, job.ranks, job.ranks_per_node);
  const ElementBytes bytes = element_bytes(job.settings);
  for (const ModelUnit& unit : model_units(job.shape, job.settings, sizes)) {
    const std::int64_t trained = part_of(unit.trained, shards.group);
    shards.units.push_back({unit, trained, part_of(unit.frozen, shards.group),
                            gathers_of(unit, bytes, shards.group),
                            bytes.reduced * shards.group * trained});
  }
  return shards;
}

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
