#include "trace/job/shape/strategy.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "trace/job/settings/grammars.h"

namespace shardlens::trace::job {

namespace {

// clang-format off
constexpr std::array<StrategyTraits, 7> kTraits{{
    {.strategy = Strategy::kDdp, .name = "ddp",
     .explanation = "Every rank holds everything; gradients are averaged bucket by bucket"},
    {.strategy = Strategy::kZero1, .name = "zero1",
     .explanation = "Shards the optimizer's state; parameters are sent round after every step",
     .shards_optimizer = true},
    {.strategy = Strategy::kNoShard, .name = "no_shard",
     .explanation = "Every rank holds everything; gradients are averaged unit by unit",
     .has_units = true},
    {.strategy = Strategy::kShardGradOp, .name = "shard_grad_op",
     .explanation = "Shards gradients, optimizer and parameters at rest; parameters are gathered "
                    "once per step",
     .has_units = true, .shards_parameters = true, .shards_optimizer = true},
    {.strategy = Strategy::kFullShard, .name = "full_shard",
     .explanation = "Shards everything; a unit is gathered for its forward and again for its "
                    "backward, the root unit once for both",
     .has_units = true, .shards_parameters = true, .shards_optimizer = true,
     .frees_after_forward = true},
    {.strategy = Strategy::kHybridShard, .name = "hybrid_shard",
     .explanation = "full_shard within a group of ranks, replicated across the groups",
     .has_units = true, .shards_parameters = true, .shards_optimizer = true,
     .frees_after_forward = true, .has_groups = true},
    {.strategy = Strategy::kHybridShardZero2, .name = "hybrid_shard_zero2",
     .explanation = "shard_grad_op within a group of ranks, replicated across the groups",
     .has_units = true, .shards_parameters = true, .shards_optimizer = true, .has_groups = true},
}};
// clang-format on

constexpr auto kChangesLearning = std::to_array<std::string_view>(
    {"communication_hook", "communication", "param_dtype", "reduce_dtype", "buffer_dtype"});

}  // namespace

std::span<const StrategyTraits> strategies() { return kTraits; }

const StrategyTraits& strategy_traits(Strategy strategy) {
  return kTraits[static_cast<std::size_t>(strategy)];
}

bool has_effect(const Knob& knob, Strategy strategy) {
  return applies(knob, strategy) &&
         (knob.name != "backward_prefetch" || strategy_traits(strategy).frees_after_forward);
}

std::string without_effect_with(const Knob& knob, const Settings& settings) {
  const StrategyTraits& traits = strategy_traits(settings.sharding_strategy);
  if (!has_effect(knob, traits.strategy)) return std::string(traits.name);
  if (!applies(knob, settings)) return "device: " + chosen<&Settings::device>(settings);
  return ignored_with(knob, settings);
}

bool scales_loss(const Settings& settings) {
  const bool has_units = strategy_traits(settings.sharding_strategy).has_units;
  return settings.precision == Precision::kFp16 ||
         (has_units && settings.param_dtype == DataType::kFp16);
}

bool reduces_after_backward(const Settings& settings) {
  const bool sends_buckets = !strategy_traits(settings.sharding_strategy).has_units &&
                             settings.ranks > 1 && settings.communication == Communication::kOn;
  return sends_buckets && !settings.overlap_comm;
}

bool runs_on_cpu(const Settings& settings, bool has_gpus) {
  if (settings.device != DeviceChoice::kAuto) return settings.device == DeviceChoice::kCpu;
  // A simulated link slows Gloo down, so it wants the CPU.
  return !has_gpus || has_simulated_link(settings);
}

bool has_high_priority_streams(const Settings& settings) {
  if (settings.comm_stream_priority != StreamPriority::kAuto)
    return settings.comm_stream_priority == StreamPriority::kHigh;
  return strategy_traits(settings.sharding_strategy).has_units;
}

std::int64_t shard_group_size(const Settings& settings, std::int64_t ranks,
                              std::int64_t ranks_per_node) {
  const StrategyTraits& traits = strategy_traits(settings.sharding_strategy);
  if (!traits.has_units) return ranks;
  if (!traits.shards_parameters) return 1;
  if (!traits.has_groups) return ranks;
  if (const auto link = parse_simulated_link(settings.simulate_link);
      link && *link && (*link)->nodes > 0) {
    ranks_per_node = std::max<std::int64_t>(1, ranks / (*link)->nodes);
  }
  const std::int64_t wished =
      settings.shard_group_size == kAuto ? ranks_per_node : settings.shard_group_size;
  return std::min(wished, ranks);
}

bool changes_learning(const Knob& knob) {
  return std::ranges::find(kChangesLearning, knob.name) != kChangesLearning.end();
}

bool learns_the_same(const Settings& settings, Strategy strategy) {
  return std::ranges::all_of(kChangesLearning, [&](std::string_view name) {
    const Knob& knob = *find_knob(name);
    return value_text(settings, knob) == default_text(knob) ||
           applies(knob, strategy) == applies(knob, settings.sharding_strategy);
  });
}

}  // namespace shardlens::trace::job
