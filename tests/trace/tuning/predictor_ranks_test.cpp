// Predictions of other ranks, and of what each of them does and exchanges.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "tests/trace/tuning/recorded_job.h"
#include "tests/trace/tuning/recorded_predictor.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/shape_text.h"
#include "trace/predict/schedule/step_program.h"
#include "trace/tuning/predictor.h"

namespace shardlens::trace::tuning {
namespace {

TEST(Predictor, OfOneRankNothingIsExposed) {
  RecordedJob job;
  job.figures.ranks.resize(2);
  for (auto& rank : job.figures.ranks) rank.info.device_name = "made up, 8 cores";
  for (auto& rank : job.figures.ranks) rank.info.device = "cpu";
  job.figures.info.settings.threads_per_rank = 1;
  job::Settings alone = job.figures.info.settings;
  alone.ranks = 1;
  job.figures.summary.exposed_ns = 50.0 * kMs;  // of which the schedule tells a part
  const auto prediction = predictor_of(job).predict(alone);
  ASSERT_TRUE(prediction) << prediction.error().message;
  EXPECT_EQ(prediction->exposed_ns, 0.0);
}

// Transfers take 10 ms, and 5 ms longer beside computation.
RecordedJob job_that_waits_for_cores() {
  RecordedJob job;
  job.core_delay_ns = 5 * kMs;
  job.figures.ranks.resize(2);
  for (auto& rank : job.figures.ranks) rank.info.device_name = "made up, 8 cores";
  for (auto& rank : job.figures.ranks) rank.info.device = "cpu";
  job.figures.info.settings.threads_per_rank = 1;
  return job;
}

TEST(Predictor, TransfersWaitForCoresWhileRanksCompute) {
  RecordedJob job = job_that_waits_for_cores();
  const auto step = predictor_of(job).predict_step(job.figures.info.settings, kTypicalStep);
  ASSERT_TRUE(step) << step.error().message;
  ASSERT_EQ(step->schedule.calls.size(), 4u);
  for (const auto& call : step->schedule.calls) {
    const std::int64_t took_ns = call.end_ns - call.start_ns;
    EXPECT_NEAR(took_ns, (call.call < 3 ? 15 : 10) * kMs, kMs / 100) << call.call;
  }
}

// 12 ms of it go by meanwhile: of waits that take 5 ms in the mean 5 e^(−12/5) = 0.454 are left.
TEST(Predictor, WaitsForCoresHideBehindALinkThatTakesLonger) {
  RecordedJob job = job_that_waits_for_cores();
  job::Settings next = job.figures.info.settings;
  next.simulate_link = "latency_us=12000,gbit_per_s=1000000";
  const auto step = predictor_of(job).predict_step(next, kTypicalStep);
  ASSERT_TRUE(step) << step.error().message;
  for (const auto& call : step->program.calls) {
    EXPECT_NEAR(call.transfer_ns, 12.454 * kMs, 0.02 * kMs);
    EXPECT_NEAR(call.core_delay_ns, 0.454 * kMs, 0.02 * kMs);
  }
}

TEST(Predictor, NothingOfOneRankWaitsForCores) {
  RecordedJob job = job_that_waits_for_cores();
  job::Settings alone = job.figures.info.settings;
  alone.ranks = 1;
  const auto step = predictor_of(job).predict_step(alone, kTypicalStep);
  ASSERT_TRUE(step) << step.error().message;
  for (const auto& call : step->program.calls) EXPECT_EQ(call.transfer_ns, 0) << call.what;
}

// Every step waits for it, whatever its buckets do.
TEST(Predictor, ExchangesTheLossOnAnotherLinkAndNotOnOneRank) {
  const auto difference_ns = [](std::int64_t loss_ns, const char* link, std::int64_t ranks) {
    RecordedJob job;
    job.loss_ns = loss_ns;
    job.figures.ranks.resize(2);
    for (auto& rank : job.figures.ranks) rank.info.device_name = "made up, 8 cores";
    for (auto& rank : job.figures.ranks) rank.info.device = "cpu";
    job.figures.info.settings.threads_per_rank = 1;
    job.figures.info.settings.bucket_cap_mb = 4;
    job::Settings next = job.figures.info.settings;
    next.simulate_link = link;
    next.ranks = ranks;
    return predictor_of(job).predict(next).value().difference_ns();
  };
  const char* const link = "latency_us=100000,gbit_per_s=1000";
  EXPECT_NEAR(difference_ns(5 * kMs, link, 2) - difference_ns(0, link, 2), 95.0 * kMs, 0.1 * kMs);
  EXPECT_NEAR(difference_ns(5 * kMs, "off", 1) - difference_ns(0, "off", 1), -5.0 * kMs, 0.1 * kMs);
}

// Between the loss's few bytes and those of a bucket nothing was measured, but of more ranks it is
// hardly more bytes.
TEST(Predictor, ExchangesTheLossOfOtherRanksInWhatItTook) {
  RecordedJob job;
  job.loss_ns = kMs / 2;
  job.figures.ranks.resize(2);
  for (auto& rank : job.figures.ranks) rank.info.device_name = "made up, 8 cores";
  for (auto& rank : job.figures.ranks) rank.info.device = "cpu";
  job.figures.info.settings.threads_per_rank = 1;
  job::Settings next = job.figures.info.settings;
  for (const std::int64_t ranks : {4, 8}) {
    next.ranks = ranks;
    const auto step = predictor_of(job).predict_step(next, 10);
    ASSERT_TRUE(step) << step.error().message;
    const auto& calls = step->program.calls;
    const auto loss = std::ranges::find(calls, "loss", &predict::PlannedCall::what);
    ASSERT_NE(loss, calls.end());
    EXPECT_NEAR(loss->transfer_ns, kMs / 2 * 2 * (ranks - 1) / ranks, kMs / 100) << ranks;
  }
}

// Rank 0 owns the table, the other one all else.
RecordedJob zero1_job() {
  RecordedJob job;
  auto shape = give_model(job);
  shape.layers = 2;
  shape.vocabulary = 20'000;
  for (auto& rank : job.figures.ranks) {
    rank.info.model = job::shape_text(shape);
    rank.info.parameters = job::parameter_count(shape);
  }
  job.figures.info.settings.sharding_strategy = job::Strategy::kZero1;
  job.figures.info.settings.bucket_cap_mb = 16;
  job.transfer_ns = {{kMib, kMs}, {4 * kMib, kMs + kMs / 5}};
  job.optimizer_ns = {24 * kMs, 6 * kMs};
  return job;
}

TEST(Predictor, OneRankSumsUpNoNormAndSendsNoParameters) {
  RecordedJob job = zero1_job();
  for (auto& rank : job.figures.ranks) rank.info.device_name = "made up, 8 cores";
  job::Settings next = job.figures.info.settings;
  next.threads_per_rank = job.figures.info.settings.threads_per_rank = 1;
  next.ranks = 1;
  const auto step = predictor_of(job).predict_step(next, kTypicalStep);
  ASSERT_TRUE(step) << step.error().message;
  for (const auto& call : step->program.calls) EXPECT_TRUE(call.what.starts_with("bucket"));
}

TEST(Predictor, EachRankUpdatesAllThatRanksOfZero1Owned) {
  RecordedJob job = zero1_job();
  job::Settings next = job.figures.info.settings;
  next.sharding_strategy = job::Strategy::kDdp;
  const auto step = predictor_of(job).predict_step(next, kTypicalStep);
  ASSERT_TRUE(step) << step.error().message;
  const auto& schedule = step->schedule;
  EXPECT_NEAR(schedule.end_ns - schedule.backward_end_ns, 30 * kMs, 10);
  EXPECT_NEAR(schedule.mean_ns, schedule.end_ns - schedule.start_ns, 10) << "on both ranks";
}

// Those that are asked for, of which there may be many more than recorded ones.
TEST(Predictor, LeavesStepsOutForTheRanksThatItSchedules) {
  RecordedJob job;
  job.steps = 64;
  job.figures.ranks.resize(2);
  for (auto& rank : job.figures.ranks) rank.info.device_name = "made up, 8 cores";
  for (auto& rank : job.figures.ranks) rank.info.device = "cpu";
  job::Settings next = job.figures.info.settings;
  next.threads_per_rank = job.figures.info.settings.threads_per_rank = 1;
  next.gradient_accumulation_steps = 32;
  next.sync_each_batch = true;
  const Predictor predictor = predictor_of(job);
  const auto as_recorded = predictor.predict(next);
  ASSERT_TRUE(as_recorded) << as_recorded.error().message;
  EXPECT_EQ(as_recorded->steps, 64);
  next.ranks = 64;
  const auto prediction = predictor.predict(next);
  ASSERT_TRUE(prediction) << prediction.error().message;
  EXPECT_EQ(prediction->steps, 16);
}

// Which are scheduled twice.
TEST(Predictor, LeavesStepsOutWhereCallsWaitForCores) {
  const auto steps_of = [](std::int64_t core_delay_ns) {
    RecordedJob job = job_that_waits_for_cores();
    job.core_delay_ns = core_delay_ns;
    job.steps = 64;
    job::Settings next = job.figures.info.settings;
    next.gradient_accumulation_steps = 64;
    next.sync_each_batch = true;
    return predictor_of(job).predict(next).value().steps;
  };
  EXPECT_EQ(steps_of(0), 64);
  EXPECT_LT(steps_of(5 * kMs), 64);
}

}  // namespace
}  // namespace shardlens::trace::tuning
