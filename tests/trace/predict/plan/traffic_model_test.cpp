#include "trace/predict/plan/traffic_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace/predict/predicted_jobs.h"
#include "trace/job/shape/parameter_shapes.h"

namespace shardlens::trace::predict {
namespace {

constexpr std::int64_t kTiny = 2384448;     // values
constexpr std::int64_t kTinyRoot = 160128;  // embeddings and last norm
constexpr std::int64_t kTinyBlocks = 5 * 444864;

TEST(TrafficModel, TinyIsWhatTheseTestsReckonWith) {
  std::int64_t root = 0, blocks = 0;
  for (const job::ParameterShape& each : job::parameter_shapes(*job::find_model_preset("tiny"))) {
    (each.block == job::ParameterShape::kRoot ? root : blocks) += each.numel();
  }
  EXPECT_EQ(root, kTinyRoot);
  EXPECT_EQ(blocks, kTinyBlocks);
  EXPECT_EQ(root + blocks, kTiny);
}

std::int64_t bytes(const std::vector<std::string>& settings, std::int64_t ranks) {
  return predict_traffic(job_of(settings, ranks)).bytes();
}

TEST(TrafficModel, AllReducesGradientsOnceUnderDdp) {
  EXPECT_EQ(bytes({}, 2), 4 * kTiny);
  EXPECT_EQ(bytes({}, 4), 4 * kTiny * 2 * 3 / 4);
  EXPECT_EQ(bytes({"sharding_strategy=no_shard"}, 4), 4 * kTiny * 2 * 3 / 4);
  EXPECT_EQ(bytes({}, 1), 0);
  EXPECT_EQ(bytes({"communication_hook=bf16_compress"}, 2), 2 * kTiny);
  EXPECT_EQ(bytes({"communication=none"}, 2), 0);
}

TEST(TrafficModel, Zero1SendsUpdatedParametersToo) {
  EXPECT_EQ(bytes({"sharding_strategy=zero1"}, 4), 4 * kTiny * 2 * 3 / 4 + 4 * kTiny * 3 / 4);
}

// Rajbhandari et al., ZeRO, 2020, section 7: stages 1 and 2 send as much as plain data parallelism,
// stage 3 one and a half times; the root unit, not gathered again, makes it less here.
TEST(TrafficModel, ShardingGradientsCostsNothingAndShardingParametersHalfAsMuchAgain) {
  const std::int64_t replicated = bytes({"sharding_strategy=ddp"}, 4);
  EXPECT_EQ(bytes({"sharding_strategy=shard_grad_op"}, 4), replicated);
  EXPECT_EQ(bytes({"sharding_strategy=full_shard"}, 4), replicated + 4 * kTinyBlocks * 3 / 4);
}

TEST(TrafficModel, FrozenBlocksTravelInTheTypeTheyAreKeptIn) {
  const std::vector<std::string> fp32{"sharding_strategy=full_shard", "frozen_blocks=2"};
  auto bf16 = fp32;
  bf16.push_back("base_dtype=bf16");
  // Gathered twice by half of two ranks: 12 C² values of matrices in each of two blocks.
  EXPECT_EQ(bytes(fp32, 2) - bytes(bf16, 2), 2 * (2 * 12 * 192 * 192) * (4 - 2) / 2);
}

TEST(TrafficModel, AccumulationReducesOnceUnlessTold) {
  const std::vector<std::string> k4{"gradient_accumulation_steps=4"};
  EXPECT_EQ(bytes(k4, 2), 4 * kTiny);
  const std::vector<std::string> each{"gradient_accumulation_steps=4", "sync_each_batch=true"};
  EXPECT_EQ(bytes(each, 2), 4 * 4 * kTiny);
  // Units are gathered for every micro-batch even where gradients wait.
  const std::int64_t gathers = 4 * (kTiny + kTinyBlocks) / 2;
  EXPECT_EQ(bytes({"gradient_accumulation_steps=4", "sharding_strategy=full_shard"}, 2),
            4 * gathers + 4 * kTiny / 2);
  EXPECT_EQ(bytes({"gradient_accumulation_steps=4", "sharding_strategy=shard_grad_op"}, 2),
            4 * kTiny);
}

TEST(TrafficModel, SixteenBitsHalveWhatTheyApplyTo) {
  const auto full = [](const char* parameters, const char* gradients) {
    return bytes({"sharding_strategy=full_shard", "param_dtype=" + std::string(parameters),
                  "reduce_dtype=" + std::string(gradients)},
                 2);
  };
  EXPECT_EQ(2 * full("bf16", "auto"), full("fp32", "fp32"));
  EXPECT_EQ(full("bf16", "fp32") - full("bf16", "bf16"), kTiny);
}

TEST(TrafficModel, FrozenBlocksAreGatheredButNotReduced) {
  const std::int64_t all = bytes({"sharding_strategy=full_shard"}, 2);
  EXPECT_EQ(all - bytes({"sharding_strategy=full_shard", "frozen_blocks=2"}, 2), 2 * 444864 * 2);
}

// A BERT whose pooler alone has an adapter: backward comes to no block.
TEST(TrafficModel, BlocksThatNeedNoGradientAreGatheredOnce) {
  const auto gathered = [](const char* recompute) {
    PlannedJob job = job_of({"sharding_strategy=full_shard", "wrap_policy=size", "min_num_params=1",
                             "lora_rank=4", "lora_target_modules=pooler.dense", recompute});
    job.shape.layout = job::ModelLayout::kBert;
    job.shape.tied_head = false;
    job.shape.token_types = job.shape.labels = 2;
    return predict_traffic(job).bytes();
  };
  EXPECT_EQ(gathered("activation_checkpointing=1"), gathered("activation_checkpointing=0"));
}

TEST(TrafficModel, HybridKeepsGathersInsideOneMachine) {
  const auto predict = [](const char* strategy) {
    return predict_traffic(
        gpu_job_of({"model=llama-8b", "sharding_strategy=" + std::string(strategy)}, 16, 8));
  };
  const TrafficPrediction hybrid = predict("hybrid_shard"), full = predict("full_shard");
  // Two groups of 8 all-reduce an eighth of the gradients: 2 x 1/2 x 4 B x P / 8.
  EXPECT_EQ(hybrid.between_nodes(), 4 * 8030261248 / 8);
  // Of a ring over two machines one link of each leaves it: an eighth of the whole.
  EXPECT_NEAR(static_cast<double>(full.between_nodes()), static_cast<double>(full.bytes()) / 8, 8);
  EXPECT_GT(full.between_nodes(), 2 * hybrid.between_nodes());
  EXPECT_EQ(predict_traffic(gpu_job_of({"model=llama-8b"}, 8, 8)).between_nodes(), 0);
}

// `bytes_sent_per_step` in reports of runs on the CPU, losses and norms included.
TEST(TrafficModel, IsWhatRunsOnTheCpuSent) {
  struct Sent {
    std::vector<std::string> settings;
    int ranks;
    std::int64_t bytes;
  };
  const std::vector<Sent> runs{
      {{}, 2, 9537840},
      {{"sharding_strategy=zero1"}, 2, 14306740},
      {{"sharding_strategy=no_shard"}, 2, 9538100},
      {{"sharding_strategy=no_shard", "param_dtype=bf16"}, 2, 4769204},
      {{"sharding_strategy=shard_grad_op"}, 2, 14306996},
      {{"sharding_strategy=shard_grad_op", "gradient_accumulation_steps=2"}, 2, 14306996},
      {{"sharding_strategy=full_shard"}, 2, 18755636},
      {{"sharding_strategy=full_shard", "gradient_accumulation_steps=2"}, 2, 27973172},
      {{"sharding_strategy=full_shard", "param_dtype=bf16"}, 2, 9377972},
      {{"sharding_strategy=full_shard", "param_dtype=bf16", "reduce_dtype=fp32"}, 2, 14146868},
      {{"sharding_strategy=full_shard", "frozen_blocks=2"}, 2, 15196628},
      {{"sharding_strategy=full_shard", "wrap_policy=whole_model"}, 2, 14306996},
      {{"sharding_strategy=full_shard", "wrap_policy=size", "min_num_params=100000"}, 2, 18953012},
      {{"sharding_strategy=full_shard", "wrap_policy=size", "min_num_params=40000"}, 2, 18953012},
      {{"sharding_strategy=full_shard", "wrap_policy=size"}, 2, 14306996},
      // Units within blocks are gathered once more where these are computed again.
      {{"sharding_strategy=full_shard", "wrap_policy=size", "min_num_params=100000",
        "activation_checkpointing=1"},
       2,
       23023404},
      {{"sharding_strategy=full_shard", "wrap_policy=size", "min_num_params=100000",
        "activation_checkpointing=2"},
       2,
       21395244},
      {{"sharding_strategy=full_shard", "wrap_policy=size", "min_num_params=100000",
        "activation_checkpointing=1", "frozen_blocks=2"},
       2,
       19464396},
      {{"sharding_strategy=full_shard", "wrap_policy=size", "min_num_params=100000",
        "activation_checkpointing=1", "gradient_accumulation_steps=2"},
       2,
       36508716},
      {{"sharding_strategy=shard_grad_op", "wrap_policy=size", "min_num_params=100000",
        "activation_checkpointing=1"},
       2,
       14306988},
      {{"sharding_strategy=full_shard", "activation_checkpointing=1", "frozen_blocks=2"},
       2,
       15196620},
      {{"communication_hook=bf16_compress"}, 2, 4768944},
      {{"frozen_blocks=2"}, 2, 5978928},
      {{"sharding_strategy=hybrid_shard", "shard_group_size=2"}, 4, 23524738},
      {{"sharding_strategy=hybrid_shard_zero2", "shard_group_size=2"}, 4, 19076098},
  };
  for (const Sent& run : runs) {
    const auto predicted = predict_traffic(job_of(run.settings, run.ranks)).executed_bytes();
    EXPECT_LE(predicted, run.bytes) << ::testing::PrintToString(run.settings);
    EXPECT_GT(predicted + 1000, run.bytes) << ::testing::PrintToString(run.settings);
  }
}

TEST(TrafficModel, FormulasHaveTheNumbersPutIn) {
  const TrafficPrediction prediction = predict_traffic(job_of({}, 4));
  ASSERT_EQ(prediction.terms.size(), 1u);
  EXPECT_EQ(prediction.terms[0].formula, "2 x (4 - 1) / 4 x 4 B x 2,384,448 values");
  EXPECT_EQ(prediction.terms[0].what, "gradients");
}

}  // namespace
}  // namespace shardlens::trace::predict
