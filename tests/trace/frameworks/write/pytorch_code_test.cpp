// What the code does is tested by running it: tests/trainer/truth/exported_truth.py.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/trace/frameworks/framework_jobs.h"
#include "trace/frameworks/write/framework_export.h"

namespace shardlens::trace::frameworks {
namespace {

std::string code_of(std::string_view settings) { return pytorch_code(job_with(settings)).text; }

TEST(PytorchCode, SaysOrListsEverySettingThatParallelises) {
  expect_every_setting_is_said([](const TunedJob& job) { return pytorch_code(job).text; });
}

TEST(PytorchCode, ListsWithAReasonWhatHasNoCounterpart) {
  const auto code = pytorch_code(job_with("overlap_comm=false loss_every=5"));
  ASSERT_EQ(code.left_out.size(), 1u);
  EXPECT_EQ(code.left_out.front().knob, "overlap_comm");
  EXPECT_TRUE(has(code.text, "    overlap_comm: false (" + code.left_out.front().reason + ")"));
  EXPECT_FALSE(has(code_of(""), "Left out"));
}

// They change buckets, units and memory, but belong to the model.
TEST(PytorchCode, ListsWhatIsToBeDoneToTheModelBefore) {
  const auto knobs = [](std::string_view settings) {
    std::vector<std::string> names;
    for (const LeftOut& each : pytorch_code(job_with(settings)).left_out) {
      EXPECT_TRUE(has(each.reason, "before")) << each.reason;
      names.emplace_back(each.knob);
    }
    return names;
  };
  EXPECT_EQ(knobs("frozen_blocks=2"), std::vector<std::string>{"frozen_blocks"});
  EXPECT_EQ(knobs("lora_alpha=16"), std::vector<std::string>{}) << "of no adapter";
  const std::string adapters = code_of("lora_rank=4 lora_alpha=16 base_dtype=nf4");
  EXPECT_TRUE(has(adapters, "lora_rank: 4 (adapters are a part of the model"));
  EXPECT_TRUE(has(adapters, "lora_alpha: 16 (")) << adapters;
  EXPECT_TRUE(has(adapters, "base_dtype: nf4 (")) << adapters;
}

// PyTorch's first bucket is small only where nothing is said of caps.
TEST(PytorchCode, SaysBucketCapsSoThatPyTorchPlansTheSameBuckets) {
  EXPECT_FALSE(has(code_of(""), "bucket_cap"));
  EXPECT_TRUE(has(code_of("first_bucket_mb=25"), "bucket_cap_mb=25,"));
  EXPECT_TRUE(has(code_of("bucket_cap_mb=4"), "bucket_cap_mb=4,"));
  EXPECT_TRUE(has(code_of("bucket_cap_mb=4 first_bucket_mb=0.5"), "bucket_cap_mb_list=[0.5, 4],"));
}

TEST(PytorchCode, StartsAsManyProcessesOnEachMachine) {
  TunedJob job = job_with("ranks=16 device=cuda nccl_algo=Ring threads_per_rank=4");
  EXPECT_TRUE(has(pytorch_code(job).text, "torchrun --standalone --nproc-per-node 16 train.py"));
  job.nodes = 2;
  const std::string text = pytorch_code(job).text;
  EXPECT_TRUE(has(text, "--nnodes 2 "));
  EXPECT_TRUE(has(text, "--nproc-per-node 8 train.py"));
  EXPECT_TRUE(has(text, "NCCL_ALGO=Ring "));
  EXPECT_TRUE(has(text, "OMP_NUM_THREADS=4 "));
}

TEST(PytorchCode, QuotesWhatAShellWouldTakeForTwoCommands) {
  const std::string text = code_of("device=cuda nccl_algo=Ring;allreduce:Tree");
  EXPECT_TRUE(has(text, "NCCL_ALGO='Ring;allreduce:Tree' ")) << text;
}

// What plain PyTorch can express needs no other package.
TEST(PytorchCode, NeedsNoTransformersForASchedule) {
  for (const std::string_view schedule : job::find_knob("lr_schedule")->choices) {
    const std::string text = code_of("warmup_steps=3 lr_schedule=" + std::string(schedule));
    EXPECT_FALSE(has(text, "import transformers") || has(text, "from transformers")) << text;
    EXPECT_TRUE(has(text, "return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)"));
    EXPECT_TRUE(has(text, "if step < 3:")) << text;
  }
}

TEST(PytorchCode, SaysHowRanksThatRunOutAreJoined) {
  const std::string join = "drop_last=false uneven_inputs=join sharding_strategy=";
  EXPECT_TRUE(has(code_of(join + "ddp"), "uneven_inputs: join (put the loop into"));
  EXPECT_TRUE(has(code_of(join + "zero1"), "Join([model, optimizer])"));
  EXPECT_TRUE(has(code_of(join + "full_shard"), "uneven_inputs: join (fully_shard has no Join"));
}

// As DeepSpeed's and Accelerate's programs, which average micro-batches and ranks, too.
TEST(PytorchCode, SaysThatTheRunWeighsMicroBatchesByTheirTargetsWhereTheyMayDiffer) {
  constexpr std::string_view kSaid = "mean over all targets of a step";
  for (const std::string_view format : {"pytorch", "deepspeed", "accelerate"}) {
    const auto is_said = [&](std::string_view settings) {
      const auto file = find_export_format(format)->write(job_with(settings));
      return has(file.text + remarks_text(file), kSaid);
    };
    EXPECT_TRUE(is_said("packing=false")) << format;
    EXPECT_TRUE(is_said("data=/tmp/turns.jsonl")) << format;
    EXPECT_FALSE(is_said("")) << format << ": full sequences";
  }
  EXPECT_TRUE(has(code_of("packing=false"), kSaid)) << "where its reader looks";
}

TEST(PytorchCode, AsksForTheStepsOfEpochs) {
  EXPECT_TRUE(has(code_of("steps=30"), "def make_schedule(optimizer, steps=30):"));
  EXPECT_TRUE(has(code_of("steps=30"), "parallel.make_schedule(optimizer)\n"));
  const std::string text = code_of("epochs=2");
  EXPECT_TRUE(has(text, "def make_schedule(optimizer, steps):")) << text;
  EXPECT_TRUE(has(text, "parallel.make_schedule(optimizer, steps)  # as many as 2 epochs have\n"));
}

TEST(PytorchCode, ScalesTheLossOfUnitsInFp16) {
  const std::string text =
      code_of("device=cuda sharding_strategy=full_shard param_dtype=fp16 initial_loss_scale=1024");
  EXPECT_TRUE(has(text, "torch.amp.GradScaler(DEVICE, init_scale=1024)")) << text;
  EXPECT_TRUE(has(text, "scaler.scale(loss).backward()")) << text;
  EXPECT_FALSE(has(text, "autocast")) << text;
}

// Else a decoder's block that is computed again appends to the keys and values it kept.
TEST(PytorchCode, KeepsNoKeysAndValuesWhereBlocksAreComputedAgain) {
  for (const std::string strategy : {"ddp", "full_shard"}) {
    const std::string kept = "sharding_strategy=" + strategy + " activation_checkpointing=";
    EXPECT_TRUE(has(code_of(kept + "2"), "model.config.use_cache = False")) << strategy;
    EXPECT_FALSE(has(code_of(kept + "0"), "use_cache")) << strategy;
  }
}

// Else clipping fails: NCCL reduces nothing that is in the host's memory.
TEST(PytorchCode, ReducesOnTheHostWhatIsOffloadedThere) {
  const std::string offloads = "sharding_strategy=full_shard cpu_offload=true device=";
  EXPECT_TRUE(has(code_of(offloads + "cuda"), "init_process_group(\"cpu:gloo,cuda:nccl\","));
  EXPECT_TRUE(has(code_of(offloads + "cpu"), "init_process_group(\"gloo\","));
  EXPECT_TRUE(has(code_of("device=cuda"), "init_process_group(\"nccl\","));
}

// The name is the user's own, and code is what others run.
TEST(PytorchCode, CannotBeEndedByARunsName) {
  TunedJob job = job_with("");
  job.run = "x\"\"\"\nimport os\\";
  const std::string text = pytorch_code(job).text;
  EXPECT_FALSE(has(text, "\nimport os\n"));
  EXPECT_EQ(text.find("\"\"\"", 3), text.find("\"\"\"\nimport"));
}

}  // namespace
}  // namespace shardlens::trace::frameworks
