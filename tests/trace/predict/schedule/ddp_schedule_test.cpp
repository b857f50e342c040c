#include "trace/predict/schedule/ddp_schedule.h"

#include <gtest/gtest.h>

namespace shardlens::trace::predict {
namespace {

// Two ranks, four gradients of 10 bytes; the second rank is later with the second one.
const RecordedStep kStep{7,
                         {{0, 500, 400, {100, 200, 300, 400}}, {5, 505, 410, {90, 250, 310, 390}}}};

// Buckets of `tensors` gradients of 10 bytes each, of which half of the transfer is work.
DdpSchedule with(std::size_t tensors, std::int64_t transfer_ns, bool overlaps = true,
                 double slowdown = 1) {
  DdpPlan plan{{}, overlaps, slowdown};
  for (std::size_t last = tensors; last <= 4; last += tensors) {
    plan.buckets.push_back({.bytes = static_cast<std::int64_t>(10 * tensors),
                            .tensors = tensors,
                            .last_gradient = last - 1,
                            .transfer_ns = transfer_ns,
                            .working_ns = transfer_ns / 2});
  }
  return schedule_ddp(kStep, plan);
}

TEST(DdpSchedule, ReducesABucketOnceAllRanksHaveItsLastGradient) {
  const auto schedule = with(2, 20);
  ASSERT_EQ(schedule.buckets.size(), 2u);
  EXPECT_EQ(schedule.buckets[0].bytes, 20);
  EXPECT_EQ(schedule.buckets[0].tensors, 2u);
  EXPECT_EQ(schedule.buckets[0].ready_ns, 250);
  EXPECT_EQ(schedule.buckets[0].start_ns, 250);
  EXPECT_EQ(schedule.buckets[0].end_ns, 270);
  EXPECT_EQ(schedule.buckets[1].ready_ns, 400);
  EXPECT_EQ(schedule.backward_end_ns, 420);
  EXPECT_EQ(schedule.contended_ns, 10);
  EXPECT_EQ(schedule.tail_ns(), 20);
}

TEST(DdpSchedule, ReducesOneBucketAfterTheOther) {
  const auto schedule = with(1, 200);
  EXPECT_EQ(schedule.buckets[1].ready_ns, 250);
  EXPECT_EQ(schedule.buckets[1].start_ns, 300);
  EXPECT_EQ(schedule.backward_end_ns, 900) << "four transfers of 200 from 100 on";
  EXPECT_EQ(schedule.contended_ns, 200) << "of the last two none before 400";
}

TEST(DdpSchedule, WithoutOverlapWaitsForTheLastGradient) {
  const auto schedule = with(1, 10, false);
  EXPECT_EQ(schedule.buckets[0].start_ns, 400);
  EXPECT_EQ(schedule.backward_end_ns, 440);
  EXPECT_EQ(schedule.contended_ns, 0);
}

TEST(DdpSchedule, EndsWithComputationWhereNothingIsMoved) {
  EXPECT_EQ(with(4, 0).backward_end_ns, 400);
}

TEST(DdpSchedule, ComputesLongerWhereItIsSlowedDown) {
  const auto schedule = with(2, 20, true, 1.5);
  EXPECT_EQ(schedule.buckets[0].ready_ns, 330) << "90 + 1.5 * 160, on the second rank";
  EXPECT_EQ(schedule.last_ready_ns, 550);
}

}  // namespace
}  // namespace shardlens::trace::predict
