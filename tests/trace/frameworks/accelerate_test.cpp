// What Accelerate itself makes of these files: tests/trainer/truth/accelerate_truth.py.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/trace/frameworks/framework_jobs.h"
#include "trace/frameworks/write/framework_export.h"

namespace shardlens::trace::frameworks {
namespace {

std::string yaml_of(std::string_view settings) {
  return accelerate_config(job_with(settings)).text;
}

ForeignSettings accelerate_of(const std::string& text) {
  auto read = parse_foreign_settings(text, "accelerate.yaml");
  EXPECT_TRUE(read && read->has_value()) << (read ? "not known" : read.error().message);
  return read && *read ? **read : ForeignSettings{};
}

std::string accelerate_problem(const std::string& text) {
  const auto read = parse_foreign_settings(text, "accelerate.yaml");
  return read ? "" : read.error().message;
}

TEST(AccelerateConfig, SaysOrListsEverySettingThatParallelises) {
  expect_every_setting_is_said([](const TunedJob& job) { return accelerate_config(job).text; });
}

TEST(AccelerateConfig, ReadInAgainSetsWhatItWrote) {
  std::mt19937 random(1);
  for (int i = 0; i < 400 && !::testing::Test::HasFailure(); ++i) {
    const TunedJob job = drawn_job(random);
    const FrameworkFile file = accelerate_config(job);
    expect_none_is_forgotten(job, file);
    expect_round_trip(job, file, Framework::kAccelerate);
  }
}

TEST(AccelerateConfig, WritesFsdpOfVersionTwo) {
  const std::string text = yaml_of(
      "sharding_strategy=full_shard ranks=4 device=cuda model=llama-1b param_dtype=bf16 "
      "cpu_offload=true activation_checkpointing=1");
  for (const char* line :
       {"\ndistributed_type: FSDP\n", "\n  fsdp_version: 2\n",
        "\n  fsdp_reshard_after_forward: true\n",
        "\n  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP\n",
        "\n  fsdp_transformer_layer_cls_to_wrap: LlamaDecoderLayer\n",
        "\n  fsdp_offload_params: true\n", "\n  fsdp_activation_checkpointing: true\n",
        "\nmixed_precision: bf16\n", "\nnum_processes: 4\n", "\ndowncast_bf16: 'no'\n"}) {
    EXPECT_TRUE(has(text, line)) << line << "in\n" << text;
  }
  EXPECT_TRUE(has(yaml_of("sharding_strategy=shard_grad_op"), "fsdp_reshard_after_forward: false"));
  const std::string by_size =
      yaml_of("sharding_strategy=full_shard wrap_policy=size min_num_params=5000");
  EXPECT_TRUE(has(by_size, "SIZE_BASED_WRAP"));
  EXPECT_TRUE(has(by_size, "fsdp_min_num_params: 5000"));
}

// fsdp2_prepare_model of Accelerate 1.15 does so with every policy.
TEST(AccelerateConfig, SaysWhichUnitsAccelerateMakesBesides) {
  const FrameworkFile whole =
      accelerate_config(job_with("sharding_strategy=full_shard wrap_policy=whole_model"));
  EXPECT_TRUE(has(whole.text, "# left out: wrap_policy: whole_model (Accelerate makes units of"));
  EXPECT_TRUE(has(whole.text, "# differs: Accelerate 1.15 makes the input embedding a unit"));
  const std::string blocks =
      yaml_of("sharding_strategy=shard_grad_op gradient_accumulation_steps=2");
  EXPECT_FALSE(has(blocks, "left out: wrap_policy"));
  EXPECT_TRUE(has(blocks, "input embedding a unit"));
  EXPECT_TRUE(has(blocks, "that reduce nothing free")) << blocks;
  EXPECT_FALSE(has(yaml_of("sharding_strategy=full_shard gradient_accumulation_steps=2"),
                   "that reduce nothing free"));
  EXPECT_FALSE(has(yaml_of("sharding_strategy=ddp"), "input embedding a unit"));
  const auto read = accelerate_of(blocks);
  EXPECT_TRUE(has(remarks_text(read), "input embedding a unit"));
  EXPECT_TRUE(has(remarks_text(read), "that reduce nothing free"));
}

TEST(AccelerateConfig, WritesReplicasGroupsAndDeepSpeed) {
  EXPECT_TRUE(has(yaml_of("device=cuda"), "distributed_type: MULTI_GPU"));
  EXPECT_TRUE(has(yaml_of("device=cpu"), "distributed_type: MULTI_CPU"));
  EXPECT_TRUE(has(yaml_of("device=cpu"), "use_cpu: true"));
  const std::string groups = yaml_of("sharding_strategy=hybrid_shard ranks=8 shard_group_size=4");
  EXPECT_TRUE(has(groups, "parallelism_config_dp_replicate_size: 2"));
  EXPECT_TRUE(has(groups, "parallelism_config_dp_shard_size: 4"));
  EXPECT_TRUE(has(yaml_of("sharding_strategy=zero1"), "zero_stage: 1"));
}

// Accelerate's own launcher would start one process.
TEST(AccelerateConfig, StartsAllRanksOnCpusByTorchrun) {
  const FrameworkFile file = accelerate_config(job_with("device=cpu ranks=2 precision=bf16"));
  EXPECT_EQ(file.start,
            "ACCELERATE_USE_CPU=true ACCELERATE_MIXED_PRECISION=bf16 torchrun --standalone "
            "--nproc-per-node 2 train.py");
  EXPECT_TRUE(has(file.text, "unless MPI starts them"));
  TunedJob job = job_with("device=cpu ranks=4");
  job.nodes = 2;
  EXPECT_TRUE(has(accelerate_config(job).start, "torchrun --nnodes 2 "));
  for (const char* other : {"device=cuda", "device=cpu ranks=1"}) {
    EXPECT_TRUE(has(accelerate_config(job_with(other)).start, "accelerate launch")) << other;
  }
}

TEST(AccelerateConfig, ListsInCommentsWhatOnlyCodeCanSay) {
  const std::string text = yaml_of("device=cuda bucket_cap_mb=4 gradient_accumulation_steps=2");
  EXPECT_TRUE(has(text,
                  "# left out: bucket_cap_mb: 4 (say it in code: Accelerator(kwargs_handlers=["
                  "DistributedDataParallelKwargs(bucket_cap_mb=…)]))"))
      << text;
  EXPECT_TRUE(has(text, "# left out: gradient_accumulation_steps: 2 (say it in code"));
  TunedJob job = job_with("");
  job.run = "x\nuse_cpu: true";
  EXPECT_FALSE(has(accelerate_config(job).text, "\nuse_cpu: true\n" + std::string("num")));
  EXPECT_TRUE(has(accelerate_config(job).text, "'x use_cpu: true'"));
}

constexpr const char* kWritten = R"(compute_environment: LOCAL_MACHINE
debug: false
distributed_type: FSDP
downcast_bf16: 'no'
fsdp_config:
  fsdp_auto_wrap_policy: TRANSFORMER_BASED_WRAP
  fsdp_backward_prefetch: BACKWARD_PRE
  fsdp_forward_prefetch: true
  fsdp_offload_params: false
  fsdp_sharding_strategy: SHARD_GRAD_OP
  fsdp_state_dict_type: SHARDED_STATE_DICT
  fsdp_transformer_layer_cls_to_wrap: GPT2Block
machine_rank: 0
mixed_precision: bf16
num_machines: 1
num_processes: 4
)";

TEST(AccelerateReader, ReadsFsdpOfVersionOne) {
  const ForeignSettings foreign = accelerate_of(kWritten);
  const job::Settings& s = foreign.settings;
  EXPECT_EQ(s.sharding_strategy, job::Strategy::kShardGradOp);
  EXPECT_EQ(s.backward_prefetch, job::BackwardPrefetch::kPre);
  EXPECT_TRUE(s.forward_prefetch);
  EXPECT_TRUE(s.limit_all_gathers);
  EXPECT_TRUE(s.sync_module_states) << "as `accelerate launch` has it where the file is silent";
  EXPECT_EQ(s.param_dtype, job::DataType::kBf16);
  EXPECT_EQ(s.buffer_dtype, job::DataType::kBf16) << "of version 1 only";
  EXPECT_EQ(s.checkpoint_format, job::CheckpointFormat::kSharded);
  EXPECT_EQ(s.ranks, 4);
  EXPECT_EQ(foreign.ignored.size(), 5u) << remarks_text(foreign);
  EXPECT_TRUE(has(remarks_text(foreign),
                  "ignored: fsdp_config.fsdp_transformer_layer_cls_to_wrap: GPT2Block (the "
                  "blocks of the model are known)"));
}

// As `accelerate config` writes it, and `accelerate launch` does not take it.
TEST(AccelerateReader, TakesTheStrategyOfVersionOneFromItsOwnKeyOnly) {
  const std::string begin =
      "distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 1\n"
      "  fsdp_reshard_after_forward: SHARD_GRAD_OP\n";
  const ForeignSettings foreign = accelerate_of(begin);
  EXPECT_EQ(foreign.settings.sharding_strategy, job::Strategy::kFullShard);
  EXPECT_TRUE(
      has(remarks_text(foreign),
          "ignored: fsdp_config.fsdp_reshard_after_forward: SHARD_GRAD_OP (with version 1"));
  EXPECT_EQ(
      accelerate_of(begin + "  fsdp_sharding_strategy: NO_SHARD\n").settings.sharding_strategy,
      job::Strategy::kNoShard);
}

TEST(AccelerateReader, ReadsDeepSpeedByItsOwnKeys) {
  const ForeignSettings foreign = accelerate_of(
      "distributed_type: DEEPSPEED\nnum_processes: 8\nmixed_precision: bf16\n"
      "deepspeed_config:\n  zero_stage: 2\n  gradient_clipping: 0.5\n  "
      "gradient_accumulation_steps: 3\n"
      "  offload_optimizer_device: nvme\n  zero3_init_flag: true\n");
  EXPECT_EQ(foreign.settings.sharding_strategy, job::Strategy::kShardGradOp);
  EXPECT_EQ(foreign.settings.max_grad_norm, 0.5);
  EXPECT_EQ(foreign.settings.gradient_accumulation_steps, 3);
  EXPECT_EQ(foreign.settings.ranks, 8);
  EXPECT_EQ(foreign.settings.param_dtype, job::DataType::kBf16);
  EXPECT_TRUE(
      has(remarks_text(foreign), "ignored: deepspeed_config.offload_optimizer_device: nvme"));
  EXPECT_TRUE(has(remarks_text(foreign), "ignored: deepspeed_config.zero3_init_flag"));
}

TEST(AccelerateReader, HasAcceleratesDefaultStage) {
  const ForeignSettings foreign =
      accelerate_of("distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero3_init_flag: false\n");
  EXPECT_EQ(foreign.settings.sharding_strategy, job::Strategy::kShardGradOp);
}

// What a program says in code stays as it is in the job that is changed.
TEST(AccelerateReader, ChangesOfAJobWhatItSpeaksOf) {
  job::Settings job;
  job.batch_per_rank = 3;
  job.gradient_accumulation_steps = 2;
  job.max_grad_norm = 0.5;
  job.bucket_cap_mb = 4;
  job.optimizer = job::OptimizerChoice::kSgd;
  job.sharding_strategy = job::Strategy::kFullShard;
  job::Settings replicas = job;
  replicas.sharding_strategy = job::Strategy::kDdp;
  replicas.ranks = 4;
  const auto changed =
      changed_by(accelerate_of("distributed_type: MULTI_GPU\nnum_processes: 4\n"), job);
  EXPECT_TRUE(job::differing_knobs(replicas, changed).empty());
  const auto deepspeed =
      changed_by(accelerate_of("distributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 3\n"
                               "  gradient_accumulation_steps: auto\n  gradient_clipping: 1.5\n"),
                 job);
  EXPECT_EQ(deepspeed.batch_per_rank, 3);
  EXPECT_EQ(deepspeed.gradient_accumulation_steps, 2);
  EXPECT_EQ(deepspeed.max_grad_norm, 1.5);
}

// Accelerate clips at 1 where nothing else is said, and takes the program's steps.
TEST(AccelerateReader, HasAcceleratesDefaultsOfDeepSpeed) {
  job::Settings job;
  job.gradient_accumulation_steps = 4;
  job.max_grad_norm = 0.5;
  job.precision = job::Precision::kFp16;
  job.initial_loss_scale = 1024;
  const std::string begin =
      "distributed_type: DEEPSPEED\nmixed_precision: fp16\ndeepspeed_config:\n  zero_stage: 1\n";
  for (const char* more : {"", "  gradient_clipping: auto\n  gradient_accumulation_steps: auto\n",
                           "  gradient_clipping:\n  gradient_accumulation_steps:\n"}) {
    const auto changed = changed_by(accelerate_of(begin + more), job);
    EXPECT_EQ(changed.max_grad_norm, 1) << more;
    EXPECT_EQ(changed.gradient_accumulation_steps, 4) << more;
    EXPECT_EQ(changed.initial_loss_scale, 65536) << "DeepSpeed's own";
  }
  const auto none = changed_by(accelerate_of(begin + "  gradient_clipping: 0.0\n"), job);
  EXPECT_EQ(none.max_grad_norm, 0);
}

// What the file says is taken over where it is our default, too.
TEST(AccelerateReader, SwitchesOffWhatTheFileHasNot) {
  job::Settings job;
  job.sharding_strategy = job::Strategy::kFullShard;
  job.activation_checkpointing = 1;
  job.checkpoint_format = job::CheckpointFormat::kSharded;
  job.device = job::DeviceChoice::kCpu;
  const auto changed = [&](const std::string& text) {
    return changed_by(accelerate_of(text), job);
  };
  const std::string fsdp = "distributed_type: FSDP\nfsdp_config:\n";
  const job::Settings said = changed(
      fsdp + "  fsdp_activation_checkpointing: false\n  fsdp_state_dict_type: FULL_STATE_DICT\n");
  EXPECT_EQ(said.activation_checkpointing, 0);
  EXPECT_EQ(said.checkpoint_format, job::CheckpointFormat::kFull);
  EXPECT_EQ(said.device, job::DeviceChoice::kAuto);
  const job::Settings first = changed(fsdp + "  fsdp_version: 1\n");
  EXPECT_EQ(first.activation_checkpointing, 1) << "the program may say it";
  EXPECT_EQ(first.checkpoint_format, job::CheckpointFormat::kFull);
  job.checkpoint_format = job::CheckpointFormat::kFull;
  EXPECT_EQ(changed(fsdp + "  fsdp_version: 2\n").checkpoint_format,
            job::CheckpointFormat::kSharded);
  EXPECT_EQ(changed("distributed_type: MULTI_GPU\n").device, job::DeviceChoice::kAuto);
  job.device = job::DeviceChoice::kAuto;
  EXPECT_EQ(changed("distributed_type: NO\nuse_cpu: true\n").device, job::DeviceChoice::kCpu);
  EXPECT_EQ(changed("distributed_type: MULTI_CPU\n").device, job::DeviceChoice::kCpu);
}

TEST(AccelerateReader, IgnoresWhatIsNotChosen) {
  const ForeignSettings foreign = accelerate_of(
      "distributed_type: MULTI_GPU\nnum_processes: 2\nfsdp_config:\n  fsdp_offload_params: true\n");
  EXPECT_FALSE(foreign.settings.cpu_offload);
  EXPECT_TRUE(has(remarks_text(foreign), "(distributed_type is MULTI_GPU)"));
}

TEST(AccelerateReader, SaysWhatContradictsItselfOrIsDamaged) {
  EXPECT_TRUE(has(accelerate_problem("distributed_type: MULTI_GPU\nuse_cpu: true\n"),
                  "use_cpu: contradicts"));
  EXPECT_FALSE(has(accelerate_problem("distributed_type: \"FS\\nDP\"\n"), "\n"))
      << "an error is a line";
  EXPECT_TRUE(has(accelerate_problem(
                      "distributed_type: FSDP\nnum_processes: 6\nfsdp_config:\n  fsdp_version: 2\n"
                      "parallelism_config:\n  parallelism_config_dp_replicate_size: 2\n"
                      "  parallelism_config_dp_shard_size: 2\n"),
                  "is 4, but num_processes is 6"));
  EXPECT_TRUE(has(accelerate_problem(
                      "distributed_type: FSDP\nnum_processes: 2\nfsdp_config:\n  fsdp_version: 2\n"
                      "parallelism_config:\n  dp_replicate_size: 4294967296\n"
                      "  dp_shard_size: 4294967296\n"),
                  "parallelism_config.dp_replicate_size: use 1 to 1024"));
  EXPECT_TRUE(
      has(accelerate_problem("distributed_type: FSDP\nfsdp_config:\n  fsdp_version: 2\n"
                             "  fsdp_reshard_after_forward: FULL_SHARD\n"),
          "fsdp_config.fsdp_reshard_after_forward: 'FULL_SHARD' is not valid; use true or false"));
  EXPECT_TRUE(has(accelerate_problem("distributed_type: DEEPSPEED\ndeepspeed_config:\n"
                                     "  deepspeed_config_file: ds.json\n"),
                  "deepspeed_config.deepspeed_config_file: how it trains stands in 'ds.json': give "
                  "that file instead"));
  EXPECT_TRUE(has(accelerate_problem("distributed_type: XLA\n"),
                  "distributed_type: 'XLA' has no counterpart"));
  EXPECT_TRUE(has(accelerate_problem("distributed_type: NO\nnum_processes: 2\n"),
                  "num_processes: contradicts"));
  EXPECT_TRUE(has(accelerate_problem("distributed_type: [FSDP\n"), "this is not YAML"));
  EXPECT_TRUE(
      has(accelerate_problem("distributed_type: NO\nuse_cpu: maybe\n"), "use true or false"));
}

}  // namespace
}  // namespace shardlens::trace::frameworks
