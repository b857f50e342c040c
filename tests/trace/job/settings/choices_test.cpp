#include "trace/job/settings/choices.h"

#include <gtest/gtest.h>

#include <string_view>
#include <variant>

#include "trace/job/settings/settings.h"

namespace shardlens::trace {
namespace {

// The table knows the names, choices.h the order: here both are written down once more.
TEST(Choices, AreCalledWhatTheirEnumeratorsAreCalled) {
  const auto set_to = [](std::string_view assignment) {
    Settings settings;
    EXPECT_TRUE(set_assignment(settings, assignment)) << assignment;
    return settings;
  };
  EXPECT_EQ(set_to("packing=auto").packing, AutoBool::kAuto);
  EXPECT_EQ(set_to("packing=true").packing, AutoBool::kTrue);
  EXPECT_EQ(set_to("packing=false").packing, AutoBool::kFalse);
  EXPECT_EQ(set_to("reshard_after_forward=auto").reshard_after_forward, AutoBool::kAuto);
  EXPECT_EQ(set_to("reshard_after_forward=true").reshard_after_forward, AutoBool::kTrue);
  EXPECT_EQ(set_to("reshard_after_forward=false").reshard_after_forward, AutoBool::kFalse);
  EXPECT_EQ(set_to("on_bad_lines=stop").on_bad_lines, OnBadLines::kStop);
  EXPECT_EQ(set_to("on_bad_lines=skip").on_bad_lines, OnBadLines::kSkip);
  EXPECT_EQ(set_to("uneven_inputs=even").uneven_inputs, UnevenInputs::kEven);
  EXPECT_EQ(set_to("uneven_inputs=join").uneven_inputs, UnevenInputs::kJoin);
  EXPECT_EQ(set_to("device=auto").device, DeviceChoice::kAuto);
  EXPECT_EQ(set_to("device=cpu").device, DeviceChoice::kCpu);
  EXPECT_EQ(set_to("device=cuda").device, DeviceChoice::kCuda);
  EXPECT_EQ(set_to("sharding_strategy=ddp").sharding_strategy, Strategy::kDdp);
  EXPECT_EQ(set_to("sharding_strategy=zero1").sharding_strategy, Strategy::kZero1);
  EXPECT_EQ(set_to("sharding_strategy=no_shard").sharding_strategy, Strategy::kNoShard);
  EXPECT_EQ(set_to("sharding_strategy=shard_grad_op").sharding_strategy, Strategy::kShardGradOp);
  EXPECT_EQ(set_to("sharding_strategy=full_shard").sharding_strategy, Strategy::kFullShard);
  EXPECT_EQ(set_to("sharding_strategy=hybrid_shard").sharding_strategy, Strategy::kHybridShard);
  EXPECT_EQ(set_to("sharding_strategy=hybrid_shard_zero2").sharding_strategy,
            Strategy::kHybridShardZero2);
  EXPECT_EQ(set_to("communication_hook=none").communication_hook, CommunicationHook::kNone);
  EXPECT_EQ(set_to("communication_hook=fp16_compress").communication_hook,
            CommunicationHook::kFp16Compress);
  EXPECT_EQ(set_to("communication_hook=bf16_compress").communication_hook,
            CommunicationHook::kBf16Compress);
  EXPECT_EQ(set_to("communication=on").communication, Communication::kOn);
  EXPECT_EQ(set_to("communication=none").communication, Communication::kNone);
  EXPECT_EQ(set_to("wrap_policy=transformer_block").wrap_policy, WrapPolicy::kTransformerBlock);
  EXPECT_EQ(set_to("wrap_policy=size").wrap_policy, WrapPolicy::kSize);
  EXPECT_EQ(set_to("wrap_policy=whole_model").wrap_policy, WrapPolicy::kWholeModel);
  EXPECT_EQ(set_to("backward_prefetch=pre").backward_prefetch, BackwardPrefetch::kPre);
  EXPECT_EQ(set_to("backward_prefetch=post").backward_prefetch, BackwardPrefetch::kPost);
  EXPECT_EQ(set_to("backward_prefetch=none").backward_prefetch, BackwardPrefetch::kNone);
  EXPECT_EQ(set_to("comm_stream_priority=auto").comm_stream_priority, StreamPriority::kAuto);
  EXPECT_EQ(set_to("comm_stream_priority=high").comm_stream_priority, StreamPriority::kHigh);
  EXPECT_EQ(set_to("comm_stream_priority=normal").comm_stream_priority, StreamPriority::kNormal);
  EXPECT_EQ(set_to("precision=fp32").precision, Precision::kFp32);
  EXPECT_EQ(set_to("precision=bf16").precision, Precision::kBf16);
  EXPECT_EQ(set_to("precision=fp16").precision, Precision::kFp16);
  EXPECT_EQ(set_to("param_dtype=auto").param_dtype, DataType::kAuto);
  EXPECT_EQ(set_to("param_dtype=fp32").param_dtype, DataType::kFp32);
  EXPECT_EQ(set_to("param_dtype=bf16").param_dtype, DataType::kBf16);
  EXPECT_EQ(set_to("param_dtype=fp16").param_dtype, DataType::kFp16);
  EXPECT_EQ(set_to("reduce_dtype=auto").reduce_dtype, DataType::kAuto);
  EXPECT_EQ(set_to("reduce_dtype=fp32").reduce_dtype, DataType::kFp32);
  EXPECT_EQ(set_to("reduce_dtype=bf16").reduce_dtype, DataType::kBf16);
  EXPECT_EQ(set_to("reduce_dtype=fp16").reduce_dtype, DataType::kFp16);
  EXPECT_EQ(set_to("buffer_dtype=auto").buffer_dtype, DataType::kAuto);
  EXPECT_EQ(set_to("buffer_dtype=fp32").buffer_dtype, DataType::kFp32);
  EXPECT_EQ(set_to("buffer_dtype=bf16").buffer_dtype, DataType::kBf16);
  EXPECT_EQ(set_to("buffer_dtype=fp16").buffer_dtype, DataType::kFp16);
  EXPECT_EQ(set_to("base_dtype=auto").base_dtype, BaseType::kAuto);
  EXPECT_EQ(set_to("base_dtype=fp32").base_dtype, BaseType::kFp32);
  EXPECT_EQ(set_to("base_dtype=bf16").base_dtype, BaseType::kBf16);
  EXPECT_EQ(set_to("base_dtype=nf4").base_dtype, BaseType::kNf4);
  EXPECT_EQ(set_to("optimizer=adamw").optimizer, OptimizerChoice::kAdamW);
  EXPECT_EQ(set_to("optimizer=sgd").optimizer, OptimizerChoice::kSgd);
  EXPECT_EQ(set_to("lr_schedule=cosine").lr_schedule, LrSchedule::kCosine);
  EXPECT_EQ(set_to("lr_schedule=linear").lr_schedule, LrSchedule::kLinear);
  EXPECT_EQ(set_to("lr_schedule=constant").lr_schedule, LrSchedule::kConstant);
  EXPECT_EQ(set_to("lr_schedule=constant_with_warmup").lr_schedule,
            LrSchedule::kConstantWithWarmup);
  EXPECT_EQ(set_to("lr_schedule=cosine_with_restarts").lr_schedule,
            LrSchedule::kCosineWithRestarts);
  EXPECT_EQ(set_to("lr_schedule=cosine_with_min_lr").lr_schedule, LrSchedule::kCosineWithMinLr);
  EXPECT_EQ(set_to("lr_schedule=polynomial").lr_schedule, LrSchedule::kPolynomial);
  EXPECT_EQ(set_to("lr_schedule=inverse_sqrt").lr_schedule, LrSchedule::kInverseSqrt);
  EXPECT_EQ(set_to("lr_schedule=warmup_stable_decay").lr_schedule, LrSchedule::kWarmupStableDecay);
  EXPECT_EQ(set_to("on_nonfinite=stop").on_nonfinite, OnNonfinite::kStop);
  EXPECT_EQ(set_to("on_nonfinite=continue").on_nonfinite, OnNonfinite::kContinue);
  EXPECT_EQ(set_to("checkpoint_format=full").checkpoint_format, CheckpointFormat::kFull);
  EXPECT_EQ(set_to("checkpoint_format=sharded").checkpoint_format, CheckpointFormat::kSharded);
  EXPECT_EQ(set_to("save_model=auto").save_model, SaveModel::kAuto);
  EXPECT_EQ(set_to("save_model=none").save_model, SaveModel::kNone);
  EXPECT_EQ(set_to("save_model=end").save_model, SaveModel::kEnd);
  EXPECT_EQ(set_to("save_model=best").save_model, SaveModel::kBest);
}

TEST(Choices, AreAllNamedAndReadBack) {
  for (const Knob& knob : knobs()) {
    const auto* member = std::get_if<ChoiceMember>(&knob.member);
    if (member == nullptr) continue;
    EXPECT_FALSE(knob.choices_are_open) << knob.name;
    for (std::size_t place = 0; place < knob.choices.size(); ++place) {
      Settings settings;
      ASSERT_TRUE(set_value(settings, knob.name, knob.choices[place])) << knob.name;
      EXPECT_EQ(member->get(settings), static_cast<int>(place)) << knob.name;
      EXPECT_EQ(value_text(settings, knob), knob.choices[place]);
    }
  }
}

}  // namespace
}  // namespace shardlens::trace
