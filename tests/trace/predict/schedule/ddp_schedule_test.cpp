#include "trace/predict/schedule/ddp_schedule.h"

#include <gtest/gtest.h>

#include <vector>

namespace shardlens::trace::predict {
namespace {

// Two ranks, a micro-batch of four gradients of 10 bytes; the second rank is later with the second
// one.
const RecordedStep kStep{7,
                         {{0, 500, {{0, 60, 80, 400, {100, 200, 300, 400}}}},
                          {5, 505, {{5, 60, 85, 410, {90, 250, 310, 390}}}}}};

// Buckets of `tensors` gradients of 10 bytes each, of which half of the transfer is work.
DdpPlan plan_of(std::size_t tensors, std::int64_t transfer_ns) {
  DdpPlan plan;
  for (std::size_t last = tensors; last <= 4; last += tensors) {
    plan.buckets.push_back({.bytes = static_cast<std::int64_t>(10 * tensors),
                            .tensors = tensors,
                            .last_gradient = last - 1,
                            .transfer_ns = transfer_ns,
                            .working_ns = transfer_ns / 2});
  }
  return plan;
}

TEST(DdpSchedule, ReducesABucketOnceAllRanksHaveItsLastGradient) {
  const auto schedule = schedule_ddp(kStep, plan_of(2, 20));
  ASSERT_EQ(schedule.buckets.size(), 2u);
  EXPECT_EQ(schedule.buckets[0].bytes, 20);
  EXPECT_EQ(schedule.buckets[0].tensors, 2u);
  EXPECT_EQ(schedule.buckets[0].ready_ns, 250);
  EXPECT_EQ(schedule.buckets[0].start_ns, 250);
  EXPECT_EQ(schedule.buckets[0].end_ns, 270);
  EXPECT_EQ(schedule.buckets[1].ready_ns, 400);
  EXPECT_EQ(schedule.backward_end_ns, 420);
  EXPECT_EQ(schedule.contended_ns(), 10);
  EXPECT_EQ(schedule.exposed_ns, 20);
}

TEST(DdpSchedule, ReducesOneBucketAfterTheOther) {
  const auto schedule = schedule_ddp(kStep, plan_of(1, 200));
  EXPECT_EQ(schedule.buckets[1].ready_ns, 250);
  EXPECT_EQ(schedule.buckets[1].start_ns, 300);
  EXPECT_EQ(schedule.backward_end_ns, 900) << "four transfers of 200 from 100 on";
  EXPECT_EQ(schedule.contended_ns(), 200) << "of the last two none before 400";
}

TEST(DdpSchedule, WithoutOverlapWaitsForTheLastGradient) {
  DdpPlan plan = plan_of(1, 10);
  plan.overlaps = false;
  const auto schedule = schedule_ddp(kStep, plan);
  EXPECT_EQ(schedule.buckets[0].start_ns, 400);
  EXPECT_EQ(schedule.backward_end_ns, 440);
  EXPECT_EQ(schedule.contended_ns(), 0);
}

TEST(DdpSchedule, EndsWithComputationWhereNothingIsMoved) {
  EXPECT_EQ(schedule_ddp(kStep, plan_of(4, 0)).backward_end_ns, 400);
}

TEST(DdpSchedule, ComputesLongerWhereItIsSlowedDown) {
  const auto schedule = schedule_ddp(kStep, plan_of(2, 20), {1.5});
  EXPECT_EQ(schedule.buckets[0].ready_ns, 330) << "90 + 1.5 * 160, on the second rank";
  EXPECT_EQ(schedule.buckets.back().computed_ns, 550);
}

// The first micro-batch ends with each rank's last gradient, after 400 and 385 ns of its own; the
// second computes as the first from there on and is reduced.
TEST(DdpSchedule, RepeatsTheMicroBatchThatItKnows) {
  DdpPlan plan = plan_of(4, 20);
  plan.micro_batches = 2;
  const auto schedule = schedule_ddp(kStep, plan);
  ASSERT_EQ(schedule.micro_batches.size(), 2u);
  EXPECT_EQ(schedule.micro_batches[0].end_ns, 400);
  ASSERT_EQ(schedule.buckets.size(), 1u) << "the first is not reduced";
  EXPECT_EQ(schedule.buckets[0].ready_ns, 800);
  EXPECT_EQ(schedule.backward_end_ns, 820);
}

TEST(DdpSchedule, ReducesEachMicroBatchWhereThatIsAsked) {
  DdpPlan plan = plan_of(4, 20);
  plan.micro_batches = 2;
  plan.reduces_each = true;
  const auto schedule = schedule_ddp(kStep, plan);
  ASSERT_EQ(schedule.buckets.size(), 2u);
  EXPECT_EQ(schedule.micro_batches[0].end_ns, 420);
  EXPECT_EQ(schedule.buckets[1].ready_ns, 820) << "both ranks waited for the first reduction";
  EXPECT_EQ(schedule.backward_end_ns, 840);
  EXPECT_EQ(schedule.exposed_ns, 40);
}

// Of three recorded ones the second is repeated between the first and the last.
TEST(DdpSchedule, TakesTheLastMicroBatchFromTheLast) {
  const auto micro_batch = [](std::int64_t start, std::int64_t length) {
    return MicroBatch{start, length / 4, start + length / 2, start + length, {start + length}};
  };
  const RecordedStep step{
      0, {{0, 700, {micro_batch(0, 100), micro_batch(100, 200), micro_batch(300, 400)}}}};
  DdpPlan plan{{{.bytes = 10, .tensors = 1}}};
  const auto likes = [&](std::size_t micro_batches) {
    plan.micro_batches = micro_batches;
    std::vector<std::size_t> found;
    for (const auto& time : schedule_ddp(step, plan).micro_batches) found.push_back(time.like);
    return found;
  };
  EXPECT_EQ(likes(1), (std::vector<std::size_t>{2}));
  EXPECT_EQ(likes(2), (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(likes(5), (std::vector<std::size_t>{0, 1, 1, 1, 2}));
  EXPECT_EQ(schedule_ddp(step, plan).backward_end_ns, 100 + 3 * 200 + 400);
}

// Forward of 60 ns again, between the begin of backward at 80 and its end at 400, spread evenly:
// 380 / 320 times as long.
TEST(DdpSchedule, ComputesForwardAgainInBackward) {
  DdpPlan plan = plan_of(4, 0);
  plan.more_forwards = 1;
  RecordedStep alone = kStep;
  alone.ranks.pop_back();
  EXPECT_EQ(schedule_ddp(alone, plan).backward_end_ns, 460);
  plan.more_forwards = -0.5;
  EXPECT_EQ(schedule_ddp(alone, plan).backward_end_ns, 370);
  plan.work = 2;
  EXPECT_EQ(schedule_ddp(alone, plan).backward_end_ns, 740);
}

}  // namespace
}  // namespace shardlens::trace::predict
