// Every strategy and every knob of it computes what one process computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/strategy/sharded_training.h"

namespace shardlens::trainer {
namespace {

trace::job::Settings settings_of(std::vector<std::string> assignments) {
  trace::job::Settings settings;
  settings.optimizer = trace::job::OptimizerChoice::kSgd;
  settings.weight_decay = 0.1;
  settings.max_grad_norm = 0;
  for (const auto& each : assignments) {
    const auto set = trace::job::set_assignment(settings, each);
    EXPECT_TRUE(set) << set.error().message;
  }
  return settings;
}

std::string name_of(const testing::TestParamInfo<Training>& training) {
  return training.param.name;
}

class EveryTraining : public testing::TestWithParam<Training> {};

TEST_P(EveryTraining, EqualsOneProcess) { expect_equal_to_one_process(GetParam()); }

Training of(const char* name, int ranks, std::vector<std::string> assignments) {
  Training training;
  training.name = name;
  training.ranks = ranks;
  training.settings = settings_of(std::move(assignments));
  return training;
}

Training llama(Training training) {
  training.layout = model::ModelLayout::kLlama;
  return training;
}

Training accumulating(Training training, bool sync_each) {
  training.micro_batches = 2;
  training.sync_each = sync_each;
  return training;
}

Training within(Training training, double relative) {
  training.relative = relative;
  return training;
}

// Each strategy over ten steps, with plain SGD and with AdamW, on 2 and on 4 ranks.
std::vector<Training> long_trainings() {
  std::vector<Training> all;
  for (const int ranks : {2, 4}) {
    for (const std::string strategy : {"ddp", "zero1", "no_shard", "shard_grad_op", "full_shard",
                                       "hybrid_shard", "hybrid_shard_zero2"}) {
      for (const std::string optimizer : {"sgd", "adamw"}) {
        Training training;
        training.name = strategy + "_" + optimizer + "_" + std::to_string(ranks);
        training.ranks = ranks;
        training.steps = 10;
        training.settings = settings_of({"strategy=" + strategy, "optimizer=" + optimizer,
                                         "shard_group_size=2", "bucket_cap_mb=0.01"});
        if (optimizer == "adamw") training.of_each_value = 2e-3;
        all.push_back(std::move(training));
      }
    }
  }
  return all;
}

// Adapters beside frozen weights of each type, under every strategy.
std::vector<Training> adapter_trainings() {
  std::vector<Training> all;
  for (const std::string strategy : {"ddp", "zero1", "no_shard", "shard_grad_op", "full_shard",
                                     "hybrid_shard", "hybrid_shard_zero2"}) {
    for (const std::string type : {"fp32", "bf16", "nf4"}) {
      Training training;
      training.ranks = strategy.starts_with("hybrid") ? 4 : 2;
      training.name = strategy + "_" + type;
      training.layout = type == "bf16" ? model::ModelLayout::kLlama : model::ModelLayout::kGpt2;
      // AdamW divides small gradients by their size: with a factor of 8 on the adapters it would
      // make 1e-7 of rounding 1e-3 in ten steps, whatever the strategy. Plain SGD does not.
      training.settings =
          settings_of({"strategy=" + strategy, "optimizer=sgd", "max_grad_norm=0.5",
                       "shard_group_size=2", "bucket_cap_mb=0.01", "lora_rank=4", "lora_alpha=32",
                       "lora_target_modules=all-linear", "base_dtype=" + type});
      all.push_back(std::move(training));
    }
  }
  return all;
}

class EveryStrategy : public testing::TestWithParam<std::string> {};

TEST_P(EveryStrategy, GivesBitIdenticalLossesTwice) {
  Training training;
  training.ranks = 4;
  training.settings = settings_of({"strategy=" + GetParam(), "optimizer=adamw",
                                   "shard_group_size=2", "bucket_cap_mb=0.01", "max_grad_norm=1"});
  std::vector<std::vector<double>> losses[2];
  for (auto& of_run : losses) {
    of_run.resize(4);
    comm::on_ranks(training.ranks, [&](comm::Communicator& communicator,
                                       profiler::recorder::Recorder& recorder) {
      of_run[static_cast<std::size_t>(communicator.rank())] =
          train_rank(training, communicator, recorder, [](strategy::Strategy&) {}).losses;
    });
  }
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_EQ(losses[0][0].size(), static_cast<std::size_t>(training.steps));
}

INSTANTIATE_TEST_SUITE_P(Deterministic, EveryStrategy,
                         testing::Values("ddp", "zero1", "no_shard", "shard_grad_op", "full_shard",
                                         "hybrid_shard", "hybrid_shard_zero2"),
                         [](const auto& strategy) { return strategy.param; });

// Functions: the table of knobs is not there yet while constants are made.
std::vector<Training> plain_trainings() {
  return {
      of("FullShardOnOne", 1, {"strategy=full_shard"}),
      llama(of("LlamaDdp", 2, {"strategy=ddp", "bucket_cap_mb=0.01"})),
      llama(of("LlamaFullShard", 2, {"strategy=full_shard"})),
      llama(of("LlamaZero1", 2, {"strategy=zero1"})),
  };
}

// When units are gathered, and what they are.
std::vector<Training> unit_trainings() {
  return {
      of("PrefetchPost", 2, {"strategy=full_shard", "backward_prefetch=post"}),
      // An MLP within each block's unit: its backward ends before the block's does.
      of("PrefetchPostOfUnitsWithinUnits", 2,
         {"strategy=full_shard", "backward_prefetch=post", "wrap_policy=size",
          "min_num_params=1700"}),
      of("PrefetchPostOfFrozenUnitsWithinUnits", 2,
         {"strategy=shard_grad_op", "backward_prefetch=post", "wrap_policy=size",
          "min_num_params=1700", "frozen_blocks=2"}),
      of("PrefetchNone", 2, {"strategy=full_shard", "backward_prefetch=none"}),
      of("ForwardPrefetch", 2, {"strategy=full_shard", "forward_prefetch=true"}),
      of("SeparateCommunicators", 2, {"strategy=full_shard", "separate_communicators=true"}),
      of("SyncModuleStates", 2, {"strategy=full_shard", "sync_module_states=true"}),
      of("CpuOffload", 2, {"strategy=full_shard", "cpu_offload=true"}),
      of("WholeModel", 2, {"strategy=full_shard", "wrap_policy=whole_model"}),
      // Small enough for attention and MLP of each block to be units inside it.
      of("UnitsBySize", 2, {"strategy=full_shard", "wrap_policy=size", "min_num_params=1000"}),
      of("UnitsBySizeRecomputed", 2,
         {"strategy=full_shard", "wrap_policy=size", "min_num_params=1000",
          "activation_checkpointing=1"}),
      llama(of("LlamaEveryLayerAUnit", 2,
               {"strategy=full_shard", "wrap_policy=size", "min_num_params=1"})),
  };
}

std::vector<Training> frozen_trainings() {
  return {
      of("Frozen", 2, {"strategy=full_shard", "frozen_blocks=2"}),
      of("FrozenZero1", 2, {"strategy=zero1", "frozen_blocks=1"}),
      of("FrozenDdp", 2, {"strategy=ddp", "frozen_blocks=1"}),
      of("AdaptersRecomputed", 2,
         {"strategy=full_shard", "lora_rank=4", "lora_alpha=32", "activation_checkpointing=1"}),
      of("AdaptersOfBytesRecomputed", 2,
         {"strategy=full_shard", "lora_rank=4", "lora_alpha=32", "base_dtype=nf4",
          "activation_checkpointing=2"}),
      of("AdaptersOffloaded", 2,
         {"strategy=full_shard", "lora_rank=4", "lora_alpha=32", "base_dtype=nf4",
          "cpu_offload=true"}),
      llama(of("AdaptersOfEveryLayerAUnit", 2,
               {"strategy=full_shard", "wrap_policy=size", "min_num_params=1", "lora_rank=4",
                "lora_alpha=32", "base_dtype=nf4"})),
      of("AdaptersOnFour", 4,
         {"strategy=full_shard", "lora_rank=4", "lora_alpha=32", "base_dtype=nf4",
          "lora_target_modules=c_fc,attn.c_proj"}),
      accumulating(
          of("AdaptersAccumulating", 2, {"strategy=full_shard", "lora_rank=4", "lora_alpha=32"}),
          false),
      of("FrozenInBf16", 2, {"strategy=full_shard", "frozen_blocks=2", "base_dtype=bf16"}),
  };
}

std::vector<Training> accumulating_trainings() {
  return {
      accumulating(of("FullShardAccumulating", 2, {"strategy=full_shard"}), false),
      accumulating(of("FullShardReducingEach", 2, {"strategy=full_shard"}), true),
      accumulating(of("ShardGradOpAccumulating", 2, {"strategy=shard_grad_op"}), false),
      accumulating(of("NoShardAccumulating", 2, {"strategy=no_shard"}), false),
      accumulating(of("Zero1Accumulating", 2, {"strategy=zero1"}), false),
      // Accumulation, clipping, recomputation and a tied head together.
      accumulating(of("EverythingZero1", 2,
                      {"strategy=zero1", "max_grad_norm=0.5", "activation_checkpointing=2"}),
                   false),
      accumulating(of("EverythingNoShard", 2,
                      {"strategy=no_shard", "max_grad_norm=0.5", "activation_checkpointing=2"}),
                   false),
      accumulating(
          of("EverythingShardGradOp", 4,
             {"strategy=shard_grad_op", "max_grad_norm=0.5", "activation_checkpointing=2"}),
          true),
      accumulating(of("EverythingFullShard", 4,
                      {"strategy=full_shard", "max_grad_norm=0.5", "activation_checkpointing=2"}),
                   false),
      accumulating(of("EverythingHybrid", 4,
                      {"strategy=hybrid_shard", "shard_group_size=2", "max_grad_norm=0.5",
                       "activation_checkpointing=1"}),
                   false),
  };
}

std::vector<Training> narrow_trainings() {
  return {
      // 8 bits of mantissa in what is gathered and reduced.
      within(of("ParametersInBf16", 2, {"strategy=full_shard", "param_dtype=bf16"}), 3e-2),
      within(of("AdaptersGatheredInBf16", 2,
                {"strategy=full_shard", "lora_rank=4", "lora_alpha=32", "base_dtype=nf4",
                 "param_dtype=bf16"}),
             3e-2),
      within(of("ReducedInBf16", 2, {"strategy=full_shard", "reduce_dtype=bf16"}), 3e-2),
      within(of("NoShardInBf16", 2, {"strategy=no_shard", "param_dtype=bf16"}), 3e-2),
      within(accumulating(of("AddedUpInFp32", 4,
                             {"strategy=hybrid_shard", "shard_group_size=2", "param_dtype=bf16",
                              "reduce_dtype=fp32"}),
                          false),
             3e-2),
      within(accumulating(of("NoShardAddedUpInFp32", 2,
                             {"strategy=no_shard", "param_dtype=bf16", "reduce_dtype=fp32"}),
                          false),
             3e-2),
      within(
          accumulating(of("AddedUpInBf16", 2, {"strategy=full_shard", "reduce_dtype=bf16"}), false),
          3e-2),
  };
}

INSTANTIATE_TEST_SUITE_P(Strategies, EveryTraining, testing::ValuesIn(plain_trainings()), name_of);

INSTANTIATE_TEST_SUITE_P(Units, EveryTraining, testing::ValuesIn(unit_trainings()), name_of);

INSTANTIATE_TEST_SUITE_P(Frozen, EveryTraining, testing::ValuesIn(frozen_trainings()), name_of);

INSTANTIATE_TEST_SUITE_P(Accumulating, EveryTraining, testing::ValuesIn(accumulating_trainings()),
                         name_of);

INSTANTIATE_TEST_SUITE_P(Narrow, EveryTraining, testing::ValuesIn(narrow_trainings()), name_of);

INSTANTIATE_TEST_SUITE_P(TenSteps, EveryTraining, testing::ValuesIn(long_trainings()), name_of);

INSTANTIATE_TEST_SUITE_P(Adapters, EveryTraining, testing::ValuesIn(adapter_trainings()), name_of);

}  // namespace
}  // namespace shardlens::trainer
