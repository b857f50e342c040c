// That DeepSpeed itself takes these files, and its schedules:
// tests/trainer/truth/deepspeed_truth.py.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "tests/trace/frameworks/framework_jobs.h"
#include "trace/frameworks/write/framework_export.h"

namespace shardlens::trace::frameworks {
namespace {

using nlohmann::json;

json written_of(std::string_view settings) {
  return json::parse(deepspeed_config(job_with(settings)).text);
}

ForeignSettings foreign_of(const std::string& text) {
  auto read = parse_foreign_settings(text, "ds_config.json");
  EXPECT_TRUE(read && read->has_value()) << (read ? "not known" : read.error().message);
  return read && *read ? **read : ForeignSettings{};
}

std::string why_not(const std::string& text) {
  const auto read = parse_foreign_settings(text, "ds_config.json");
  return read ? "" : read.error().message;
}

std::string reason_for(const ForeignSettings& foreign, std::string_view key) {
  for (const IgnoredKey& each : foreign.ignored) {
    if (each.key == key) return each.reason;
  }
  return "";
}

std::string reason_for(const FrameworkFile& file, std::string_view knob) {
  for (const LeftOut& each : file.left_out) {
    if (each.knob == knob) return each.reason;
  }
  return "";
}

TEST(DeepSpeedConfig, SaysOrListsEverySettingThatParallelises) {
  expect_every_setting_is_said([](const TunedJob& job) {
    const FrameworkFile file = deepspeed_config(job);
    return file.text + remarks_text(file);
  });
}

TEST(DeepSpeedConfig, ReadInAgainSetsWhatItWrote) {
  std::mt19937 random(1);
  for (int i = 0; i < 400 && !::testing::Test::HasFailure(); ++i) {
    const TunedJob job = drawn_job(random);
    const FrameworkFile file = deepspeed_config(job);
    expect_none_is_forgotten(job, file);
    expect_round_trip(job, file, Framework::kDeepSpeed);
  }
}

TEST(DeepSpeedConfig, HasAStageForEachStrategy) {
  const auto stage = [](const std::string& strategy) {
    return written_of("ranks=8 shard_group_size=4 sharding_strategy=" + strategy)
        .at("zero_optimization");
  };
  EXPECT_EQ(stage("ddp").at("stage"), 0);
  EXPECT_EQ(stage("zero1").at("stage"), 1);
  EXPECT_EQ(stage("shard_grad_op").at("stage"), 2);
  EXPECT_EQ(stage("full_shard").at("stage"), 3);
  EXPECT_EQ(stage("hybrid_shard").at("stage"), 3);
  EXPECT_EQ(stage("hybrid_shard").at("zero_hpz_partition_size"), 4);
  const auto groups = deepspeed_config(job_with("sharding_strategy=hybrid_shard_zero2"));
  EXPECT_TRUE(has(reason_for(groups, "sharding_strategy"), "stage 2, which has no groups"));
  const auto replicas = deepspeed_config(job_with("sharding_strategy=no_shard"));
  EXPECT_TRUE(has(reason_for(replicas, "sharding_strategy"), "stage 0"));
}

// 25 MiB of gradients in fp32 are 25 · 2^20 ÷ 4 elements.
TEST(DeepSpeedConfig, CountsBucketsInElements) {
  const json zero =
      written_of("sharding_strategy=zero1 overlap_comm=false").at("zero_optimization");
  EXPECT_EQ(zero.at("reduce_bucket_size"), 6553600);
  EXPECT_EQ(zero.at("overlap_comm"), false);
  EXPECT_EQ(zero.at("contiguous_gradients"), false);
  const auto file = deepspeed_config(job_with("bucket_cap_mb=4"));
  EXPECT_TRUE(has(reason_for(file, "bucket_cap_mb"), "stage 0 reduces in buckets"));
}

TEST(DeepSpeedConfig, SaysThatShardedGradientsAreReducedInEveryMicroBatch) {
  const auto of = [](const std::string& settings) {
    return deepspeed_config(job_with("gradient_accumulation_steps=4 " + settings));
  };
  EXPECT_TRUE(has(remarks_text(of("sharding_strategy=full_shard")), "4 times as much"));
  const FrameworkFile same = of("sharding_strategy=shard_grad_op sync_each_batch=true");
  EXPECT_FALSE(has(remarks_text(same), "every micro-batch"));
  EXPECT_EQ(reason_for(same, "sync_each_batch"), "");
  EXPECT_TRUE(has(reason_for(of("sharding_strategy=zero1 sync_each_batch=true"), "sync_each_batch"),
                  "once a step"));
}

TEST(DeepSpeedConfig, WritesPrecisionBatchAndLimits) {
  const json file = written_of(
      "ranks=4 batch_per_rank=3 gradient_accumulation_steps=2 max_grad_norm=0.5 precision=fp16 "
      "initial_loss_scale=1024 device=cuda");
  EXPECT_EQ(file.at("train_batch_size"), 24);
  EXPECT_EQ(file.at("gradient_clipping"), 0.5);
  EXPECT_EQ(file.at("fp16").at("initial_scale_power"), 10);
  EXPECT_EQ(file.at("fp16").at("loss_scale"), 0);
  EXPECT_EQ(file.at("communication_data_type"), "fp32");
  const json units = written_of(
      "sharding_strategy=full_shard param_dtype=bf16 reduce_dtype=fp32 backward_prefetch=none "
      "cpu_offload=true");
  EXPECT_EQ(units.at("bf16").at("enabled"), true);
  EXPECT_EQ(units.at("communication_data_type"), "fp32");
  EXPECT_EQ(units.at("zero_optimization").at("stage3_prefetch_bucket_size"), 0);
  EXPECT_EQ(units.at("zero_optimization").at("offload_param").at("device"), "cpu");
  EXPECT_EQ(written_of("precision=bf16").at("torch_autocast").at("dtype"), "bfloat16");
  const auto scaled = deepspeed_config(job_with(
      "sharding_strategy=full_shard param_dtype=fp16 initial_loss_scale=1024 device=cuda"));
  EXPECT_EQ(json::parse(scaled.text).at("fp16").at("loss_scale"), 0) << "as it changes here, too";
  const job::Settings again = foreign_of(scaled.text).settings;
  EXPECT_EQ(again.param_dtype, job::DataType::kFp16);
  EXPECT_EQ(again.precision, job::Precision::kFp32);
  EXPECT_EQ(again.initial_loss_scale, 1024);
}

// Beside autocast only stage 0 reads communication_data_type.
TEST(DeepSpeedConfig, LeavesOutTheTypeOfReductionsThatAutocastDecides) {
  const auto reason = [](const std::string& settings, std::string_view knob) {
    const FrameworkFile file = deepspeed_config(job_with("precision=bf16 " + settings));
    EXPECT_EQ(json::parse(file.text).contains("communication_data_type"),
              reason_for(file, knob).empty())
        << file.text;
    return reason_for(file, knob);
  };
  EXPECT_TRUE(
      has(reason("sharding_strategy=zero1 communication_hook=bf16_compress", "communication_hook"),
          "reduce in fp32"));
  EXPECT_TRUE(has(reason("sharding_strategy=full_shard reduce_dtype=bf16", "reduce_dtype"),
                  "reduce in fp32"));
  EXPECT_EQ(reason("sharding_strategy=ddp communication_hook=bf16_compress", "communication_hook"),
            "");
  const auto same =
      deepspeed_config(job_with("precision=bf16 sharding_strategy=full_shard reduce_dtype=fp32"));
  EXPECT_EQ(reason_for(same, "reduce_dtype"), "");
}

TEST(DeepSpeedConfig, HasASchedulerWhereOneFits) {
  const auto type = [](const std::string& schedule) {
    return written_of("warmup_steps=5 lr_schedule=" + schedule).at("scheduler").at("type");
  };
  EXPECT_EQ(type("constant"), "WarmupLR");
  EXPECT_EQ(type("linear"), "WarmupDecayLR");
  EXPECT_EQ(type("cosine"), "WarmupCosineLR");
  EXPECT_EQ(type("cosine_with_min_lr"), "WarmupCosineLR");
  // Without a warm-up DeepSpeed's cosine would begin at no rate; ours does where there is one.
  const auto cosine = [](const std::string& warmup) {
    return written_of("lr_schedule=cosine warmup_steps=" + warmup).at("scheduler").at("params");
  };
  EXPECT_EQ(cosine("0").at("last_batch_iteration"), 0);
  EXPECT_FALSE(cosine("5").contains("last_batch_iteration"));
  EXPECT_TRUE(has(remarks_text(deepspeed_config(job_with("lr_schedule=cosine warmup_steps=0"))),
                  "a step behind"));
  EXPECT_FALSE(has(remarks_text(deepspeed_config(job_with("lr_schedule=constant warmup_steps=0"))),
                   "a step behind"));
  const auto file = deepspeed_config(job_with("lr_schedule=inverse_sqrt"));
  EXPECT_FALSE(json::parse(file.text).contains("scheduler"));
  EXPECT_TRUE(has(reason_for(file, "lr_schedule"), "lr_scheduler="));
}

TEST(DeepSpeedConfig, HasNoSchedulerThatFallsOverEpochs) {
  const auto file = deepspeed_config(job_with("epochs=2 steps=30 lr_schedule=linear"));
  EXPECT_FALSE(json::parse(file.text).contains("scheduler"));
  EXPECT_TRUE(has(reason_for(file, "lr_schedule"), "as many steps as the epochs have"));
  EXPECT_EQ(reason_for(file, "steps"), "");
  EXPECT_TRUE(written_of("epochs=2 lr_schedule=constant").contains("scheduler"));
}

TEST(DeepSpeedConfig, IsStartedOnAllMachines) {
  TunedJob job = job_with("ranks=16 device=cuda nccl_algo=Ring");
  EXPECT_TRUE(has(deepspeed_config(job).start, "NCCL_ALGO=Ring "));
  EXPECT_TRUE(has(deepspeed_config(job).start, "deepspeed --num_gpus 16 train.py"));
  job.nodes = 2;
  EXPECT_TRUE(has(deepspeed_config(job).start, "--num_nodes 2 --num_gpus 8 train.py"));
}

// As people write them for transformers' Trainer.
constexpr const char* kUsual = R"({
  "fp16": {"enabled": false}, "bf16": {"enabled": true},
  "optimizer": {"type": "AdamW", "params": {"lr": 2e-5, "betas": [0.9, 0.95], "eps": 1e-6, "weight_decay": "auto"}},
  "scheduler": {"type": "WarmupDecayLR",
                "params": {"total_num_steps": 500, "warmup_min_lr": 0, "warmup_max_lr": 2e-5, "warmup_num_steps": 20,
                           "warmup_type": "linear"}},
  "zero_optimization": {"stage": 3, "overlap_comm": true, "contiguous_gradients": true, "sub_group_size": 1e9,
                        "reduce_bucket_size": "auto", "stage3_prefetch_bucket_size": 0,
                        "offload_optimizer": {"device": "cpu", "pin_memory": true},
                        "offload_param": {"device": "cpu", "pin_memory": true}},
  "activation_checkpointing": {"partition_activations": true},
  "gradient_accumulation_steps": 4, "train_micro_batch_size_per_gpu": 2, "train_batch_size": 32,
  "gradient_clipping": 0.7, "steps_per_print": 100, "wall_clock_breakdown": false
})";

TEST(DeepSpeedReader, TakesOverWhatHasACounterpart) {
  const job::Settings s = foreign_of(kUsual).settings;
  EXPECT_EQ(s.sharding_strategy, job::Strategy::kFullShard);
  EXPECT_EQ(s.param_dtype, job::DataType::kBf16);
  EXPECT_EQ(s.backward_prefetch, job::BackwardPrefetch::kNone);
  EXPECT_TRUE(s.cpu_offload);
  EXPECT_EQ(s.ranks, 4);
  EXPECT_EQ(s.batch_per_rank, 2);
  EXPECT_EQ(s.gradient_accumulation_steps, 4);
  EXPECT_EQ(s.max_grad_norm, 0.7);
  EXPECT_EQ(s.learning_rate, 2e-5);
  EXPECT_EQ(s.adam_beta2, 0.95);
  EXPECT_EQ(s.lr_schedule, job::LrSchedule::kLinear);
  EXPECT_EQ(s.steps, 500);
  EXPECT_EQ(s.warmup_steps, 20);
  EXPECT_TRUE(job::problems_of(s).empty());
}

TEST(DeepSpeedReader, ListsEveryOtherKeyWithAReason) {
  const ForeignSettings foreign = foreign_of(kUsual);
  EXPECT_TRUE(has(reason_for(foreign, "zero_optimization.sub_group_size"), "whole shard"));
  EXPECT_TRUE(has(reason_for(foreign, "zero_optimization.reduce_bucket_size"), "units"));
  EXPECT_TRUE(has(reason_for(foreign, "optimizer.params.weight_decay"), "fills it in"));
  EXPECT_TRUE(has(reason_for(foreign, "activation_checkpointing.partition_activations"),
                  "activation_checkpointing"));
  EXPECT_TRUE(has(reason_for(foreign, "steps_per_print"), "logged"));
  EXPECT_FALSE(reason_for(foreign, "wall_clock_breakdown").empty());
  EXPECT_EQ(foreign.ignored.size(), 6u) << remarks_text(foreign);
  const ForeignSettings odd = foreign_of(R"({"train_batch_size": 8, "made_up": {"x": 1}})");
  EXPECT_EQ(reason_for(odd, "made_up.x"), "Shardlens has no such setting");
}

// DeepSpeed's defaults are not ours.
TEST(DeepSpeedReader, HasDeepSpeedsDefaults) {
  const job::Settings s =
      foreign_of(R"({"zero_optimization": {"stage": 1}, "train_micro_batch_size_per_gpu": 4})")
          .settings;
  EXPECT_EQ(s.sharding_strategy, job::Strategy::kZero1);
  EXPECT_NEAR(s.bucket_cap_mb, 5e8 * 4 / 1048576, 0.1);
  EXPECT_FALSE(s.overlap_comm);
  EXPECT_TRUE(s.gradient_as_bucket_view);
  EXPECT_EQ(s.max_grad_norm, 0);
  EXPECT_EQ(s.batch_per_rank, 4);
  EXPECT_FALSE(foreign_of(R"({"train_batch_size": 8})").settings.overlap_comm);
}

TEST(DeepSpeedReader, ReducesShardedGradientsInEveryMicroBatch) {
  const auto reduces_each = [](const std::string& stage, bool job_does) {
    job::Settings job;
    job.sync_each_batch = job_does;
    const std::string text =
        R"({"gradient_accumulation_steps": 4, "zero_optimization": {"stage": )";
    return changed_by(foreign_of(text + stage + "}}"), job).sync_each_batch;
  };
  for (const bool job_does : {false, true}) {
    EXPECT_FALSE(reduces_each("0", job_does));
    EXPECT_FALSE(reduces_each("1", job_does));
    EXPECT_TRUE(reduces_each("2", job_does));
    EXPECT_TRUE(reduces_each("3", job_does));
  }
  const ForeignSettings left =
      foreign_of(R"({"gradient_accumulation_steps": "auto", "zero_optimization": {"stage": 3}})");
  EXPECT_TRUE(has(remarks_text(left), "set sync_each_batch where the program accumulates"));
  job::Settings accumulates;
  accumulates.gradient_accumulation_steps = 3;
  accumulates.sync_each_batch = true;
  EXPECT_TRUE(changed_by(left, accumulates).sync_each_batch);
}

TEST(DeepSpeedReader, ReducesInTheTypeThatAutocastGivesLinearLayers) {
  const auto of = [](const std::string& stage, const std::string& more) {
    return foreign_of(R"({"communication_data_type": "fp16", "zero_optimization": {"stage": )" +
                      stage + R"(}, "torch_autocast": {"enabled": true, "dtype": "bfloat16")" +
                      more + "}}");
  };
  const std::string none = R"(, "lower_precision_safe_modules": [])";
  using Hook = job::CommunicationHook;
  EXPECT_EQ(of("0", "").settings.communication_hook, Hook::kFp16Compress);
  EXPECT_EQ(of("1", "").settings.communication_hook, Hook::kBf16Compress);
  EXPECT_EQ(of("1", none).settings.communication_hook, Hook::kNone);
  EXPECT_EQ(of("3", "").settings.reduce_dtype, job::DataType::kBf16);
  EXPECT_EQ(of("3", none).settings.reduce_dtype, job::DataType::kAuto);
  EXPECT_TRUE(has(reason_for(of("3", none), "communication_data_type"), "only stage 0 reads it"));
  EXPECT_TRUE(has(remarks_text(of("2", "")), "linear layers"));
  EXPECT_FALSE(has(remarks_text(of("2", none)), "linear layers"));
}

// Absent it is false there, as it is not at stage 3.
TEST(DeepSpeedReader, SaysThatStageTwoDoesNotOverlapByDefault) {
  const auto says = [](const std::string& zero) {
    return has(remarks_text(foreign_of("{\"zero_optimization\": {" + zero + "}}")),
               "while it reduces");
  };
  EXPECT_TRUE(says(R"("stage": 2)"));
  EXPECT_FALSE(says(R"("stage": 2, "overlap_comm": true)"));
  EXPECT_FALSE(says(R"("stage": 3)"));
}

// As transformers' documentation has it.
constexpr const char* kFilledIn = R"({
  // for every model
  "fp16": {"enabled": "auto", "loss_scale": 0}, "bf16": {"enabled": "auto"},
  "optimizer": {"type": "AdamW", "params": {"lr": "auto", "betas": "auto", "eps": "auto", "weight_decay": "auto"}},
  "scheduler": {"type": "WarmupDecayLR", "params": {"warmup_min_lr": "auto", "warmup_max_lr": "auto",
                                                    "warmup_num_steps": "auto", "total_num_steps": "auto"}},
  "zero_optimization": {"stage": 1, "reduce_bucket_size": "auto"},
  "gradient_accumulation_steps": "auto", "gradient_clipping": "auto", "train_batch_size": "auto",
  "train_micro_batch_size_per_gpu": "auto"
})";

TEST(DeepSpeedReader, LeavesToTheProgramWhatItFillsIn) {
  const ForeignSettings foreign = foreign_of(kFilledIn);
  EXPECT_TRUE(job::problems_of(foreign.settings).empty());
  const job::Settings ours;
  EXPECT_EQ(foreign.settings.warmup_steps, ours.warmup_steps);
  EXPECT_EQ(foreign.settings.learning_rate, ours.learning_rate);
  EXPECT_EQ(foreign.settings.weight_decay, ours.weight_decay);
  EXPECT_EQ(foreign.settings.max_grad_norm, ours.max_grad_norm);
  job::Settings job;
  job.batch_per_rank = 3;
  job.gradient_accumulation_steps = 2;
  job.max_grad_norm = 0.5;
  job.bucket_cap_mb = 4;
  job.warmup_steps = 7;
  job.weight_decay = 0.2;
  job.precision = job::Precision::kBf16;
  job.steps = 77;
  const job::Settings changed = changed_by(foreign, job);
  EXPECT_EQ(changed.sharding_strategy, job::Strategy::kZero1);
  EXPECT_EQ(changed.lr_schedule, job::LrSchedule::kLinear);
  EXPECT_EQ(changed.batch_per_rank, 3);
  EXPECT_EQ(changed.gradient_accumulation_steps, 2);
  EXPECT_EQ(changed.max_grad_norm, 0.5);
  EXPECT_EQ(changed.bucket_cap_mb, 4);
  EXPECT_EQ(changed.warmup_steps, 7);
  EXPECT_EQ(changed.weight_decay, 0.2);
  EXPECT_EQ(changed.precision, job::Precision::kBf16);
  EXPECT_EQ(changed.steps, 77);
}

TEST(DeepSpeedReader, TakesTheKeysThatOffloadingHadBefore) {
  const auto offloads = [](const std::string& zero) {
    return foreign_of("{\"zero_optimization\": {" + zero + "}}").settings.cpu_offload;
  };
  EXPECT_TRUE(offloads(R"("stage": 2, "cpu_offload": true)"));
  EXPECT_FALSE(offloads(R"("stage": 2, "cpu_offload": false)"));
  EXPECT_TRUE(offloads(R"("stage": 3, "cpu_offload": true, "cpu_offload_param": true)"));
  const ForeignSettings half =
      foreign_of(R"({"zero_optimization": {"stage": 3, "cpu_offload_param": true}})");
  EXPECT_FALSE(half.settings.cpu_offload);
  EXPECT_TRUE(has(reason_for(half, "zero_optimization.cpu_offload_param"), "together"));
}

// What no such file can say stays as it is in the job that is changed.
TEST(DeepSpeedReader, ChangesOfAJobWhatItSpeaksOf) {
  const auto foreign = parse_foreign_settings(
      R"({"train_micro_batch_size_per_gpu": 3, "zero_optimization": {"stage": 3}})", "ds.json");
  ASSERT_TRUE(foreign && *foreign);
  job::Settings job;
  job.model = "small";
  job.simulate_link = "latency_us=50,gbit_per_s=1";
  job.lora_rank = 8;
  job.ranks = 4;
  job.max_grad_norm = 2;
  job.gradient_accumulation_steps = 5;
  job.sharding_strategy = job::Strategy::kNoShard;
  job.optimizer = job::OptimizerChoice::kSgd;
  job.drop_last = false;
  const job::Settings changed = changed_by(**foreign, job);
  EXPECT_EQ(changed.optimizer, job::OptimizerChoice::kSgd) << "the program passes it";
  EXPECT_FALSE(changed.drop_last) << "and makes the batches";
  EXPECT_EQ(changed.model, "small");
  EXPECT_EQ(changed.simulate_link, job.simulate_link);
  EXPECT_EQ(changed.lora_rank, 8);
  EXPECT_EQ(changed.ranks, 4);
  EXPECT_EQ(changed.batch_per_rank, 3);
  EXPECT_EQ(changed.sharding_strategy, job::Strategy::kFullShard);
  EXPECT_EQ(changed.gradient_accumulation_steps, 1) << "DeepSpeed's default";
  EXPECT_EQ(changed.max_grad_norm, 0) << "likewise";
}

// What the file does not say of what it speaks of is as DeepSpeed has it, not as the job had it.
TEST(DeepSpeedReader, ChangesWhatTheFileLeavesToDeepSpeedsDefaults) {
  job::Settings job;
  job.learning_rate = 0.3;
  job.weight_decay = 0.2;
  job.adam_beta1 = 0.5;
  job.adam_epsilon = 1e-6;
  job.initial_loss_scale = 1024;
  const job::Settings changed = changed_by(
      foreign_of(R"({"optimizer": {"type": "AdamW", "params": {}}, "fp16": {"enabled": true}})"),
      job);
  EXPECT_EQ(changed.learning_rate, 0.001);
  EXPECT_EQ(changed.weight_decay, 0);
  EXPECT_EQ(changed.adam_beta1, 0.9);
  EXPECT_EQ(changed.adam_epsilon, 1e-8);
  EXPECT_EQ(changed.initial_loss_scale, 65536);
}

TEST(DeepSpeedReader, KnowsThatPyTorchsAdamWDecaysByItself) {
  const auto decay = [](const std::string& type, const std::string& params) {
    return foreign_of("{\"optimizer\": {\"type\": \"" + type + "\", \"params\": {" + params + "}}}")
        .settings.weight_decay;
  };
  EXPECT_EQ(decay("AdamW", R"("torch_adam": true)"), 0.01);
  EXPECT_EQ(decay("AdamW", R"("torch_adam": true, "adam_w_mode": false)"), 0.01);
  EXPECT_EQ(decay("AdamW", R"("torch_adam": true, "weight_decay": 0)"), 0);
  EXPECT_EQ(decay("AdamW", R"("torch_adam": false)"), 0);
  EXPECT_EQ(decay("Adam", R"("torch_adam": true)"), 0.01) << "decoupled unless it says otherwise";
  EXPECT_EQ(decay("Adam", R"("torch_adam": true, "adam_w_mode": false)"), 0);
}

TEST(DeepSpeedReader, SharesABatchOfAllRanksOutAmongThoseThatThereAre) {
  const std::string text = R"({"train_batch_size": 24, "zero_optimization": {"stage": 2}})";
  const auto foreign = parse_foreign_settings(text, "ds.json", 3);
  ASSERT_TRUE(foreign && *foreign);
  EXPECT_EQ((*foreign)->settings.batch_per_rank, 8);
  EXPECT_EQ((*foreign)->settings.ranks, 3);
  EXPECT_TRUE(has(remarks_text(**foreign), "shared out among 3 ranks"));
}

// Also where the value is what a job of ours has by default.
TEST(DeepSpeedReader, ChangesWhatTheFileSaysToOurDefaults) {
  job::Settings job;
  job.ranks = 4;
  job.steps = 77;
  const job::Settings defaults;
  const job::Settings changed =
      changed_by(foreign_of(R"({"train_batch_size": 16, "train_micro_batch_size_per_gpu": 8,
                     "gradient_accumulation_steps": 1, "zero_optimization": {"stage": 1},
                     "scheduler": {"type": "WarmupDecayLR", "params": {"total_num_steps": 100,
                                   "warmup_num_steps": 5, "warmup_max_lr": 0.1}}})"),
                 job);
  EXPECT_EQ(changed.ranks, defaults.ranks);
  EXPECT_EQ(changed.steps, defaults.steps);
}

// Whatever a file was written of, it changes any other job into that, but for what it lists.
TEST(DeepSpeedReader, ChangesEveryJobIntoTheOneThatWasWritten) {
  std::mt19937 random(5);
  for (int i = 0; i < 200; ++i) {
    const TunedJob job = drawn_job(random), other = drawn_job(random);
    const auto foreign = parse_foreign_settings(deepspeed_config(job).text, "ds.json");
    ASSERT_TRUE(foreign && *foreign);
    const job::Settings changed = changed_by(**foreign, other.settings);
    for (const std::string_view name :
         {"sharding_strategy", "batch_per_rank", "gradient_accumulation_steps", "precision",
          "param_dtype", "optimizer"}) {
      const job::Knob& knob = *job::find_knob(name);
      EXPECT_EQ(job::value_text(changed, knob), job::value_text((*foreign)->settings, knob))
          << i << " " << name;
    }
  }
}

TEST(DeepSpeedReader, ReadsGroupsOfMicsAndHpz) {
  const auto strategy = [](const char* key) {
    return foreign_of(std::string(R"({"zero_optimization": {"stage": 3, ")") + key + R"(": 4}})")
        .settings;
  };
  EXPECT_EQ(strategy("mics_shard_size").sharding_strategy, job::Strategy::kHybridShard);
  EXPECT_EQ(strategy("mics_shard_size").shard_group_size, 4);
  EXPECT_EQ(strategy("zero_hpz_partition_size").shard_group_size, 4);
  EXPECT_FALSE(foreign_of(R"({"zero_optimization": {"stage": 3, "zero_hpz_partition_size": 4}})")
                   .remarks.empty());
}

TEST(DeepSpeedReader, SaysWhatContradictsItselfOrIsDamaged) {
  EXPECT_TRUE(has(why_not(R"({"train_batch_size": 7, "train_micro_batch_size_per_gpu": 2,
                              "gradient_accumulation_steps": 1})"),
                  "train_batch_size: 7 is no multiple"));
  EXPECT_TRUE(has(why_not(R"({"bf16": {"enabled": true}, "fp16": {"enabled": true}})"),
                  "fp16.enabled: contradicts bf16.enabled"));
  EXPECT_TRUE(has(why_not(R"({"zero_optimization": {"stage": 4}})"),
                  "zero_optimization.stage: there is no stage 4; use 0 to 3"));
  EXPECT_TRUE(has(why_not(R"({"zero_optimization": {"stage": "three"}})"), "use a number"));
  EXPECT_TRUE(has(why_not(R"({"gradient_clipping": -1})"), "gradient_clipping: as max_grad_norm"));
  EXPECT_TRUE(has(why_not(R"({"train_micro_batch_size_per_gpu": 0})"), "at least 1"));
  EXPECT_TRUE(has(why_not(R"({"train_batch_size": 8, "train_micro_batch_size_per_gpu": 4294967296,
                              "gradient_accumulation_steps": 4294967296})"),
                  "gradient_accumulation_steps: as gradient_accumulation_steps"));
  EXPECT_TRUE(
      has(why_not(R"({"train_batch_size": 8, "train_micro_batch_size_per_gpu": 9000000000000000})"),
          "train_micro_batch_size_per_gpu: as batch_per_rank"));
  EXPECT_TRUE(has(why_not(R"({"train_batch_size": 8, "train_batch_size": 9})"), "given twice"));
  EXPECT_TRUE(has(why_not("{\"train_batch_size\": 8,\n \"zero_optimization\": {\n"),
                  "line 3: this is not JSON"));
  EXPECT_TRUE(has(why_not(R"({"train_batch_size": 1e999})"), "one of its numbers is larger"));
  EXPECT_TRUE(has(why_not(R"({"optimizer": {"type": "AdamW", "params": {"betas": [0.9]}}})"),
                  "two numbers"));
}

// hjson, which DeepSpeed reads with, takes more than JSON.
TEST(DeepSpeedReader, TakesCommentsAndACommaBehindTheLastItem) {
  const job::Settings s = foreign_of(R"(# for "every" model {
// and /* every
/* machine, */
{
  "zero_optimization": {"stage": 2,},  # gradients, too
  "optimizer": {"type": "AdamW", "params": {"betas": [0.8, 0.9, /* two */], "lr": 0.5 /* high */ , } },
  "made_up": "a # b // c, }", "train_micro_batch_size_per_gpu": 3,
})")
                              .settings;
  EXPECT_EQ(s.sharding_strategy, job::Strategy::kShardGradOp);
  EXPECT_EQ(s.adam_beta2, 0.9);
  EXPECT_EQ(s.batch_per_rank, 3);
  EXPECT_EQ(foreign_of(R"({"train_batch_size": 8, "made_up": "a # b // c, }"})").ignored[0].value,
            "a # b // c, }");
  EXPECT_TRUE(has(why_not("# one\n{\"train_batch_size\": 8,\n \"bf16\": {,}}"),
                  "line 3: this is not JSON"));
  EXPECT_TRUE(has(why_not("{\"train_batch_size\": 8 /* never ends }"), "this is not JSON"));
}

TEST(DeepSpeedReader, TakesListsOfAnyDepth) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const std::string begin = R"({"train_batch_size": 8, "optimizer": {"type": "Adam", "params": {")";
  EXPECT_TRUE(has(why_not(begin + "betas\": [0.9, " + deep + "]}}}"), "use a list of numbers"));
  EXPECT_EQ(foreign_of(begin + "x\": [1, " + deep + ", {}]}}}").ignored[0].value, "1,[…],{…}");
}

// DeepSpeed lower-cases it.
TEST(DeepSpeedReader, TakesTypesOfCommunicationInAnyCase) {
  EXPECT_EQ(foreign_of(R"({"train_batch_size": 8, "communication_data_type": "FP16"})")
                .settings.communication_hook,
            job::CommunicationHook::kFp16Compress);
  EXPECT_EQ(foreign_of(R"({"zero_optimization": {"stage": 3}, "communication_data_type": "BF16"})")
                .settings.reduce_dtype,
            job::DataType::kBf16);
  EXPECT_TRUE(has(why_not(R"({"train_batch_size": 8, "communication_data_type": "FP8"})"),
                  "'FP8' is no type"));
}

// Settings of ours are not taken for a file of another framework.
TEST(DeepSpeedReader, LeavesOtherFilesAlone) {
  for (const char* text :
       {"{bucket_cap_mb: 4, ranks: 2}", "optimizer: sgd\ngradient_accumulation_steps: 2\n", "",
        "[1, 2]", "{\"traceEvents\": []}"}) {
    const auto read = parse_foreign_settings(text, "file");
    ASSERT_TRUE(read) << text;
    EXPECT_FALSE(read->has_value()) << text;
  }
}

}  // namespace
}  // namespace shardlens::trace::frameworks
