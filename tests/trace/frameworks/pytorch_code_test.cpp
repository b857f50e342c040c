// What the code does is tested by running it: tests/trainer/truth/exported_truth.py.
#include "trace/frameworks/pytorch_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "trace/job/shape/strategy.h"

namespace shardlens::trace::frameworks {
namespace {

TunedJob job_with(std::string_view settings) {
  TunedJob job;
  job.run = "base";
  while (!settings.empty()) {
    const auto end = std::min(settings.find(' '), settings.size());
    const auto set = job::set_assignment(job.settings, settings.substr(0, end));
    EXPECT_TRUE(set) << set.error().message;
    settings.remove_prefix(std::min(settings.size(), end + 1));
  }
  return job;
}

std::string code_of(std::string_view settings) { return pytorch_code(job_with(settings)).text; }

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// Another value than the default that the knob takes.
std::string another_value(const job::Knob& knob) {
  const job::Settings defaults;
  for (const std::string_view choice : knob.choices) {
    if (choice != default_text(knob)) return std::string(choice);
  }
  if (type_name(knob) == "bool") return default_text(knob) == "true" ? "false" : "true";
  for (const char* value : {"3", "0.5", "7"}) {
    job::Settings settings;
    if (job::set_value(settings, knob.name, value) && !(settings == defaults)) return value;
  }
  return "max_split_size_mb:128";
}

bool is_of_parallelism(const job::Knob& knob) {
  return knob.group == job::KnobGroup::kParallelism ||
         knob.group == job::KnobGroup::kPrecisionAndMemory;
}

// What belongs to the program, and what says something only beside another setting.
constexpr std::array<std::string_view, 10> kOfNoEffectAlone{
    "sharding_strategy",  "device",          "oversubscribe",
    "use_orig_params",    "base_dtype",      "min_num_params",
    "initial_loss_scale", "sync_each_batch", "reshard_after_forward",
    "sync_module_states"};

TEST(PytorchCode, SaysOrListsEverySettingThatParallelises) {
  for (const job::StrategyTraits& traits : job::strategies()) {
    TunedJob job;
    job.run = "base";
    job.settings.sharding_strategy = traits.strategy;
    job.settings.device = job::DeviceChoice::kCuda;
    job.settings.ranks = 6;
    const std::string before = pytorch_code(job).text;
    for (const job::Knob& knob : job::knobs()) {
      if (!is_of_parallelism(knob) || !applies(knob, traits.strategy)) continue;
      if (std::ranges::find(kOfNoEffectAlone, knob.name) != kOfNoEffectAlone.end()) continue;
      TunedJob other = job;
      const std::string value = another_value(knob);
      ASSERT_TRUE(job::set_value(other.settings, knob.name, value)) << knob.name << " " << value;
      EXPECT_NE(pytorch_code(other).text, before)
          << traits.name << ": nothing says " << knob.name << "=" << value;
    }
  }
}

TEST(PytorchCode, ListsWithAReasonWhatHasNoCounterpart) {
  const auto code = pytorch_code(job_with("overlap_comm=false frozen_blocks=2 loss_every=5"));
  ASSERT_EQ(code.left_out.size(), 1u);
  EXPECT_EQ(code.left_out.front().knob, "overlap_comm");
  EXPECT_TRUE(has(code.text, "    overlap_comm: false (" + code.left_out.front().reason + ")"));
  EXPECT_FALSE(has(code_of(""), "Left out"));
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
