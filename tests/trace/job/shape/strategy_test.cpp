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

TEST(Strategy, ScalesTheLossOfWhateverIsComputedInFp16) {
  const auto scales = [](std::string_view strategy, std::string_view knob, std::string_view type) {
    Settings settings;
    EXPECT_TRUE(set_value(settings, "sharding_strategy", strategy));
    EXPECT_TRUE(set_value(settings, knob, type));
    return scales_loss(settings);
  };
  EXPECT_TRUE(scales("ddp", "precision", "fp16"));
  EXPECT_TRUE(scales("full_shard", "param_dtype", "fp16"));
  EXPECT_FALSE(scales("ddp", "param_dtype", "fp16")) << "has no units that would be cast";
  EXPECT_FALSE(scales("full_shard", "param_dtype", "bf16"));
  EXPECT_FALSE(scales("full_shard", "precision", "bf16"));
}

}  // namespace
}  // namespace shardlens::trace::job
