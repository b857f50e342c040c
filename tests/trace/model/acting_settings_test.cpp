// What a run obeyed, where its settings leave it open.
#include "trace/model/acting_settings.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "trace/job/shape/strategy.h"

namespace shardlens::trace::model {
namespace {

// Whatever strategies, nodes and groups: the group is the one that units are divided among, and
// naming it changes nothing.
TEST(ActingSettings, NameTheShardGroupThatActs) {
  std::mt19937 random(20261125);
  const auto any = [&](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  int between_nodes = 0;
  for (int round = 0; round < 500; ++round) {
    RunInfo info;
    const std::int64_t nodes = std::int64_t{1} << any(0, 3);
    info.world_size = static_cast<int>(nodes << any(0, 3));
    const auto strategies = job::strategies();
    const auto& traits = strategies[static_cast<std::size_t>(any(0, std::ssize(strategies) - 1))];
    info.settings.sharding_strategy = traits.strategy;
    if (any(0, 1) == 1) {
      info.settings.simulate_link = "gbit_per_s=1,nodes=" + std::to_string(nodes);
    }
    const job::Settings acts = acting_settings(info, {});
    EXPECT_EQ(job::shard_group_size(acts, info.world_size, info.world_size),
              job::shard_group_size(info.settings, info.world_size, info.world_size));
    if (!traits.has_groups) continue;
    EXPECT_NE(acts.shard_group_size, job::kAuto);
    EXPECT_EQ(info.world_size % acts.shard_group_size, 0);
    if (acts.shard_group_size < info.world_size) ++between_nodes;
    info.settings.shard_group_size = acts.shard_group_size;
    EXPECT_EQ(acting_settings(info, {}), acts);
  }
  EXPECT_GT(between_nodes, 20);
}

// Settings do not say how many hosts a run had.
TEST(ActingSettings, TakeTheShardGroupThatARunChose) {
  RunInfo info;
  info.world_size = 4;
  info.settings.sharding_strategy = job::Strategy::kHybridShard;
  EXPECT_EQ(acting_settings(info, {}).shard_group_size, 4);
  EXPECT_EQ(acting_settings(info, {.shard_group_size = 2}).shard_group_size, 2);
  info.settings.sharding_strategy = job::Strategy::kFullShard;
  EXPECT_EQ(acting_settings(info, {.shard_group_size = 4}), acting_settings(info, {}));
  info.settings.sharding_strategy = job::Strategy::kHybridShard;
  info.settings.shard_group_size = 4;
  EXPECT_EQ(acting_settings(info, {.shard_group_size = 2}).shard_group_size, 4);
}

TEST(ActingSettings, OfACpuHaveNothingOfGpus) {
  RunInfo info, plain;
  info.world_size = plain.world_size = 2;
  info.settings.nccl_algo = "Ring";
  info.settings.comm_stream_priority = job::StreamPriority::kHigh;
  info.settings.allocator_conf = "none";
  info.settings.oversubscribe = true;
  info.device = plain.device = "cpu";
  EXPECT_EQ(acting_settings(info, {}), acting_settings(plain, {}));
  plain.settings.sharding_strategy = job::Strategy::kFullShard;  // whose streams are others
  EXPECT_EQ(acting_settings(plain, {}).comm_stream_priority,
            acting_settings(info, {}).comm_stream_priority);
  plain.settings.sharding_strategy = info.settings.sharding_strategy;
  info.device = plain.device = "cuda";
  EXPECT_NE(acting_settings(info, {}), acting_settings(plain, {}));
}

}  // namespace
}  // namespace shardlens::trace::model
