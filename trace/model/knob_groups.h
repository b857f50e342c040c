// The table of all knobs, a file of rows for each group. To add a knob: a member of Settings, a row
// in its group's file, and the code that obeys it. Inside trace/model; others ask knobs(). Any
// thread.
#pragma once

#include <span>
#include <string_view>

#include "trace/model/settings.h"

namespace shardlens::trace {

// In the order in which they are shown. Rows leave out the group, which knobs() adds.
std::span<const Knob> model_and_data_knobs();
std::span<const Knob> parallelism_knobs();
std::span<const Knob> precision_and_memory_knobs();
std::span<const Knob> optimization_knobs();
std::span<const Knob> checkpoint_knobs();
std::span<const Knob> recording_knobs();
std::span<const Knob> simulation_knobs();

// What rows of several groups name.
inline constexpr double kLarge = 1e9;  // a maximum that nobody reaches
inline constexpr std::string_view kAutoBool[] = {"auto", "true", "false"};
// Strategies with units, and with sharded units.
inline constexpr std::string_view kUnits =
    "no_shard, shard_grad_op, full_shard, hybrid_shard, hybrid_shard_zero2";
inline constexpr std::string_view kShardedUnits =
    "shard_grad_op, full_shard, hybrid_shard, hybrid_shard_zero2";

}  // namespace shardlens::trace
