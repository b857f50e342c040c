#include "trace/job/shape/strategy.h"

#include <gtest/gtest.h>

namespace shardlens::trace::job {
namespace {

bool has_high_priority(std::string_view strategy, std::string_view setting) {
  Settings settings;
  EXPECT_TRUE(set_value(settings, "sharding_strategy", strategy));
  EXPECT_TRUE(set_value(settings, "comm_stream_priority", setting));
  return has_high_priority_streams(settings);
}

TEST(Strategy, StreamsHaveThePriorityThatPytorchGivesThemUnlessAskedOtherwise) {
  EXPECT_EQ(Settings{}.comm_stream_priority, StreamPriority::kAuto);
  for (const char* name : {"ddp", "zero1"}) EXPECT_FALSE(has_high_priority(name, "auto")) << name;
  for (const char* name : {"no_shard", "shard_grad_op", "full_shard", "hybrid_shard"})
    EXPECT_TRUE(has_high_priority(name, "auto")) << name;
  EXPECT_TRUE(has_high_priority("ddp", "high"));
  EXPECT_FALSE(has_high_priority("full_shard", "normal"));
}

}  // namespace
}  // namespace shardlens::trace::job
