// What the run has to tell for a prediction, and what is said of that run with it.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/trace/tuning/recorded_job.h"
#include "tests/trace/tuning/recorded_predictor.h"
#include "trace/job/shape/lora.h"
#include "trace/tuning/predictor.h"

namespace shardlens::trace::tuning {
namespace {

TEST(Predictor, NeedsSomeSteps) {
  RecordedJob few;
  few.steps = 3;
  const auto recorded = few.record();
  const auto predictor = Predictor::create(few.figures, recorded);
  ASSERT_FALSE(predictor);
  EXPECT_NE(predictor.error().message.find("this run has 3. Record one with more steps."),
            std::string::npos);
}

// Of a run that goes on that is no fault.
TEST(Predictor, SaysOfARunThatGoesOnHowManyStepsItStillNeeds) {
  const auto why_not = [](int steps, const char* record) {
    RecordedJob job;
    job.steps = steps;
    job.figures.info.status = model::RunStatus::kRunning;
    job.figures.info.settings.record = record;
    const auto recorded = job.record();
    const auto predictor = Predictor::create(job.figures, recorded);
    return predictor ? "" : predictor.error().message;
  };
  EXPECT_NE(why_not(3, "every step").find("has 3 so far: 1 more is needed."), std::string::npos);
  EXPECT_NE(why_not(0, "every step").find("has none so far: 4 more are needed."),
            std::string::npos);
  EXPECT_NE(why_not(3, "none").find("Record one with record: every step."), std::string::npos);
  EXPECT_EQ(why_not(4, "every step"), "");
}

TEST(Predictor, SaysThatTheRunFailed) {
  RecordedJob job;
  EXPECT_FALSE(predictor_of(job).predict(with_cap(job, 4))->is_of_failed_run);
  RecordedJob failed;
  failed.figures.info.status = model::RunStatus::kFailed;
  EXPECT_TRUE(predictor_of(failed).predict(with_cap(failed, 4))->is_of_failed_run);
}

TEST(Predictor, SaysWhetherItIsOfGpusAndWhetherRanksShareOne) {
  for (const bool shares : {false, true}) {
    RecordedJob job;
    EXPECT_FALSE(predictor_of(job).predict(with_cap(job, 4))->is_on_gpus);
    job.figures.info.device = "cuda";
    job.figures.info.shared_gpu = shares;
    const auto prediction = predictor_of(job).predict(with_cap(job, 4));
    ASSERT_TRUE(prediction) << prediction.error().message;
    EXPECT_TRUE(prediction->is_on_gpus);
    EXPECT_EQ(prediction->shares_gpu, shares);
  }
}

// How much of it each would have depends on what the others ask of it.
TEST(Predictor, KnowsNothingOfOtherRanksOnASharedGpu) {
  RecordedJob job;
  job.figures.info.shared_gpu = true;
  job::Settings more = job.figures.info.settings;
  more.ranks = 4;
  const auto refused = predictor_of(job).predict(more);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("share a GPU"), std::string::npos);
  EXPECT_TRUE(predictor_of(job).predict(with_cap(job, 4)));
}

// Which parameters a rank owns follows from the model's shape, which this run does not tell.
TEST(Predictor, KnowsNothingOfZero1WithoutTheModelsShape) {
  for (const bool is_recorded : {false, true}) {
    RecordedJob job;
    job::Settings& recorded = job.figures.info.settings;
    job::Settings next = recorded;
    (is_recorded ? recorded : next).sharding_strategy = job::Strategy::kZero1;
    const auto refused = predictor_of(job).predict(next);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("zero1"), std::string::npos) << refused.error().message;
    next = recorded;
    next.bucket_cap_mb = 2;
    EXPECT_TRUE(predictor_of(job).predict(next)) << "it is zero1 on neither side, or on both";
  }
}

// A prediction of what is not known is none.
TEST(Predictor, RecomputesOnlyWhereTheModelIsKnown) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  job::Settings next = job.figures.info.settings;
  next.activation_checkpointing = 1;
  EXPECT_FALSE(predictor_of(job).predict(next)) << "nothing tells the model";
  const auto shape = give_model(job);
  job.figures.steps.clear();
  const auto all = predictor_of(job).predict(next);
  ASSERT_TRUE(all) << all.error().message;
  next.activation_checkpointing = 2;
  const auto half = predictor_of(job).predict(next);
  ASSERT_TRUE(half);
  EXPECT_GT(all->difference_ns(), 0.5 * 25 * kMs) << "most of forward's 25 ms";
  EXPECT_LT(all->difference_ns(), 25.0 * kMs) << "but not what follows the blocks";
  ASSERT_TRUE(all->difference);
  EXPECT_NEAR(all->difference->high_ns, 1.3 * all->difference_ns(), 1000)
      << "three tenths, on a CPU";
  const auto blocks = static_cast<double>(shape.layers);
  EXPECT_NEAR(half->difference_ns(), all->difference_ns() * std::ceil(blocks / 2) / blocks, 2);
}

TEST(Predictor, SaysWhereSomeBlocksAloneHaveAdapters) {
  RecordedJob job;
  job::Settings& recorded = job.figures.info.settings;
  recorded.lora_rank = 4;
  recorded.lora_target_modules = "h.0.mlp.c_fc";
  const auto shape = give_model(job);
  for (auto& rank : job.figures.ranks) {
    rank.info.parameters = job::trained_share(shape, recorded).all;
  }
  job::Settings next = recorded;
  next.activation_checkpointing = 1;
  const auto refused = predictor_of(job).predict(next);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("blocks alone have adapters"), std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(predictor_of(job).predict(with_cap(job, 2)));
}

}  // namespace
}  // namespace shardlens::trace::tuning
