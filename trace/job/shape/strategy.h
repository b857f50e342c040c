// What each sharding strategy keeps where. One row per strategy; the trainer builds what the row
// says, predictions and texts are derived from it. Plain values, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::job {

struct StrategyTraits {
  Strategy strategy = Strategy::kDdp;
  std::string_view name;         // the setting's value
  std::string_view explanation;  // what it shards, one sentence, no full stop
  bool has_units = false;        // gathers and reduces unit by unit; false: DDP's buckets
  bool shards_parameters = false;
  bool shards_optimizer = false;
  bool frees_after_forward = false;  // gathers again in backward
  bool has_groups = false;           // shards within a group of ranks, replicated across groups
};

std::span<const StrategyTraits> strategies();  // in the order of Strategy
const StrategyTraits& strategy_traits(Strategy strategy);

// Whether the knob makes a difference with the strategy: it obeys it, and what is not freed after
// forward is not gathered in backward, where it could be prefetched.
bool has_effect(const Knob& knob, Strategy strategy);
// With what the settings leave the knob without effect, whatever its value: what ignored_with()
// tells, and a strategy or device that leaves nothing for it to do, "shard_grad_op", "device: cpu";
// "": it has one.
std::string without_effect_with(const Knob& knob, const Settings& settings);

// Whether something is computed in fp16, in which small gradients vanish: then the loss is scaled.
bool scales_loss(const Settings& settings);

// Whether gradients are reduced only after backward: `overlap_comm: false`, where there are buckets
// and other ranks to reduce them with.
bool reduces_after_backward(const Settings& settings);

// What `device` stands for on a machine with GPUs or without.
bool runs_on_cpu(const Settings& settings, bool has_gpus);

// What comm_stream_priority stands for. `auto`: DDP's process group has normal priority, while
// fully_shard's streams, on which its collectives run, have a high one (PyTorch 2.11).
bool has_high_priority_streams(const Settings& settings);

// Over how many of `ranks` a unit is divided: 1 for no_shard; `ranks` for DDP and ZeRO-1, too,
// which divide no unit. `ranks_per_node` is what `shard_group_size: auto` stands for, but
// where a simulated link tells of nodes.
std::int64_t shard_group_size(const Settings& settings, std::int64_t ranks,
                              std::int64_t ranks_per_node);

// Of a knob that only some strategies obey: whether it changes the gradients that are learnt from.
bool changes_learning(const Knob& knob);

// Whether these settings learn the same with `strategy` as with their own: it obeys none of those
// knobs that they set where their own does not, nor the other way round.
bool learns_the_same(const Settings& settings, Strategy strategy);

}  // namespace shardlens::trace::job
