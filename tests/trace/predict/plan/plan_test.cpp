#include "trace/predict/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace/predict/predicted_jobs.h"
#include "trace/job/shape/strategy.h"
#include "trace/predict/plan/gpu_table.h"
#include "trace/predict/plan/remedies.h"

namespace shardlens::trace::predict {
namespace {

using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

PlanRequest request_of(const char* model, const char* gpu, std::int64_t gpus_per_node,
                       std::int64_t nodes = 1) {
  PlanRequest request;
  request.shape = *job::find_planning_model(model);
  request.memory_bytes = find_gpu(gpu)->memory_bytes();
  request.reserved_bytes = kReservedBytes;
  request.gpus_per_node = gpus_per_node;
  request.nodes = nodes;
  return request;
}

const StrategyPlan& of(const Plan& plan, std::string_view strategy) {
  for (const StrategyPlan& each : plan.strategies) {
    if (each.name() == strategy) return each;
  }
  throw std::runtime_error("no such strategy");
}

TEST(Plan, IsRefusedWhereSomeBlocksAloneHaveAdapters) {
  PlanRequest request = request_of("gpt2", "h100-80", 8);
  request.settings.lora_rank = 8;
  EXPECT_TRUE(plan_job(request));
  request.settings.lora_target_modules = "h.3.mlp.c_fc";
  const auto refused = plan_job(request);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("lora_target_modules"));
}

TEST(Plan, HasEveryStrategyInOrder) {
  const Plan plan = *plan_job(request_of("gpt2", "h100-80", 8, 2));
  ASSERT_EQ(plan.strategies.size(), job::strategies().size());
  for (std::size_t i = 0; i < job::strategies().size(); ++i) {
    EXPECT_EQ(plan.strategies[i].strategy, job::strategies()[i].strategy);
    EXPECT_TRUE(plan.strategies[i].fits()) << plan.strategies[i].name();
    EXPECT_GT(plan.strategies[i].traffic.bytes(), 0);
  }
}

// 8.03 B parameters with AdamW in fp32: 16 B each are 120 GiB, too much for any of these GPUs
// alone; over 8 of them 15 GiB.
TEST(Plan, ALlamaOf8BillionNeedsSharding) {
  const Plan plan = *plan_job(request_of("llama-8b", "h100-80", 8));
  for (const char* strategy : {"ddp", "zero1", "no_shard"}) {
    EXPECT_FALSE(of(plan, strategy).fits()) << strategy;
    EXPECT_EQ(of(plan, strategy).largest_batch, 0) << strategy;
  }
  const StrategyPlan& full = of(plan, "full_shard");
  EXPECT_TRUE(full.fits());
  EXPECT_GT(full.largest_batch, 0);
  EXPECT_LT(of(plan, "full_shard").memory.total(), of(plan, "shard_grad_op").memory.total());
  EXPECT_EQ(of(plan, "ddp").spare_bytes,
            find_gpu("h100-80")->memory_bytes() - kReservedBytes - of(plan, "ddp").memory.total());
}

TEST(Plan, TheLargestBatchFitsAndOneMoreDoesNot) {
  const PlanRequest request = request_of("gpt2-xl", "rtx4090-24", 8);
  const Plan plan = *plan_job(request);
  int checked = 0;
  for (const StrategyPlan& each : plan.strategies) {
    if (each.largest_batch == 0) continue;
    ++checked;
    PlannedJob job = planned_job(request, each.strategy);
    job.settings.batch_per_rank = each.largest_batch;
    EXPECT_LE(predict_memory(job).total(), request.usable_bytes()) << each.name();
    ++job.settings.batch_per_rank;
    EXPECT_GT(predict_memory(job).total(), request.usable_bytes()) << each.name();
  }
  EXPECT_GT(checked, 2);
}

TEST(Plan, SaysWhyAStrategyDoesNotGoWithTheSettings) {
  PlanRequest request = request_of("gpt2", "h100-80", 8);
  request.settings.cpu_offload = true;
  const Plan plan = *plan_job(request);
  EXPECT_THAT(of(plan, "ddp").refused, HasSubstr("cpu_offload"));
  EXPECT_FALSE(of(plan, "ddp").fits());
  EXPECT_THAT(of(plan, "full_shard").refused, IsEmpty());
  EXPECT_GT(of(plan, "full_shard").memory.host_bytes, 0);
}

TEST(Plan, RefusesWhatCannotBe) {
  EXPECT_THAT(find_gpu("h100").error().message, HasSubstr("h100-80"));
  PlanRequest none = request_of("gpt2", "h100-80", 0);
  EXPECT_EQ(plan_job(none).error().kind, base::ErrorKind::kUsage);
  PlanRequest small = request_of("gpt2", "h100-80", 8);
  small.memory_bytes = kGiB;
  EXPECT_EQ(plan_job(small).error().kind, base::ErrorKind::kUsage);
  PlanRequest long_text = request_of("gpt2", "h100-80", 8);
  long_text.settings.sequence_length = 1025;
  EXPECT_THAT(plan_job(long_text).error().message, HasSubstr("1024"));
  PlanRequest contradiction = request_of("gpt2", "h100-80", 8);
  contradiction.settings.use_orig_params = false;
  EXPECT_THAT(plan_job(contradiction).error().message, Not(IsEmpty()));
}

TEST(Plan, SeventyBillionParametersNeedEverythingSharded) {
  PlanRequest request = request_of("llama-70b", "h100-80", 8, 8);
  request.settings.activation_checkpointing = 1;
  const Plan plan = *plan_job(request);
  EXPECT_TRUE(of(plan, "full_shard").fits());
  EXPECT_FALSE(of(plan, "shard_grad_op").fits());  // 4 B x 70.6 B gathered at once
  EXPECT_FALSE(of(plan, "hybrid_shard").fits());   // 16 B x 70.6 B over 8 GPUs
}

TEST(Remedies, AreNotNeededWhereTheJobFits) {
  EXPECT_THAT(changes_that_would_fit(job_of({}), kGiB), IsEmpty());
}

TEST(Remedies, FitAndAreEstimatedAsTheJobTheyMake) {
  const PlannedJob job = gpu_job_of({"model=gpt2-xl", "batch_per_rank=8"}, 8, 8);
  const std::int64_t usable = 24 * kGiB;
  ASSERT_GT(predict_peak_bytes(job), usable);
  const auto remedies = changes_that_would_fit(job, usable);
  ASSERT_FALSE(remedies.empty());
  for (const Remedy& remedy : remedies) {
    PlannedJob other = job;
    for (const auto& change : remedy.changes) {
      ASSERT_TRUE(job::set_value(other.settings, change.knob, change.value)) << remedy.text();
    }
    EXPECT_EQ(predict_peak_bytes(other), remedy.peak_bytes) << remedy.text();
    EXPECT_LE(remedy.peak_bytes, usable) << remedy.text();
  }
}

TEST(Remedies, OneChangeIsEnoughWhereOneIsEnough) {
  const PlannedJob job =
      gpu_job_of({"model=gpt2", "batch_per_rank=64", "sequence_length=1024"}, 2, 2);
  bool offers_a_batch = false;
  for (const Remedy& remedy : changes_that_would_fit(job, predict_peak_bytes(job) * 7 / 10)) {
    EXPECT_EQ(remedy.changes.size(), 1u) << remedy.text();
    offers_a_batch = offers_a_batch || remedy.changes.front().knob == "batch_per_rank";
  }
  EXPECT_TRUE(offers_a_batch);
}

TEST(Remedies, ComputeTheLossByChunksWhereAllLogitsExistAtOnce) {
  const PlannedJob job = gpu_job_of(
      {"model=gpt2", "batch_per_rank=64", "sequence_length=1024", "loss_chunk_tokens=0"}, 2, 2);
  const auto remedies = changes_that_would_fit(job, predict_peak_bytes(job) * 9 / 10);
  const std::vector<Remedy::Change> expected{{"loss_chunk_tokens", "auto"}};
  EXPECT_THAT(remedies, Contains(Field(&Remedy::changes, expected)));
}

TEST(Remedies, ArePairedWhereOneIsNotEnough) {
  const PlannedJob job =
      gpu_job_of({"model=llama-8b", "batch_per_rank=8", "sequence_length=4096"}, 8, 8);
  const auto remedies = changes_that_would_fit(job, 70 * kGiB);
  ASSERT_FALSE(remedies.empty());
  for (const Remedy& remedy : remedies) EXPECT_EQ(remedy.changes.size(), 2u) << remedy.text();
  EXPECT_THAT(changes_that_would_fit(job, kGiB / 4), IsEmpty());
}

TEST(Remedies, ReplaceAutocastOfUnitsByGatheringIn16Bits) {
  const PlannedJob job = gpu_job_of(
      {"model=llama-8b", "sharding_strategy=full_shard", "precision=bf16", "batch_per_rank=1"}, 8,
      8);
  const auto remedies = changes_that_would_fit(job, predict_peak_bytes(job) - kGiB);
  const std::vector<Remedy::Change> expected{{"precision", "fp32"}, {"param_dtype", "bf16"}};
  EXPECT_THAT(remedies, Contains(Field(&Remedy::changes, expected)));
}

}  // namespace
}  // namespace shardlens::trace::predict
