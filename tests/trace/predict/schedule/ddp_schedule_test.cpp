#include "trace/predict/schedule/ddp_schedule.h"

#include <gtest/gtest.h>

namespace shardlens::trace::predict {
namespace {

// Two ranks, four gradients of 10 bytes; the second rank is later with the second one.
const RecordedStep kStep{7,
                         {{0, 500, 400, {100, 200, 300, 400}}, {5, 505, 410, {90, 250, 310, 390}}}};
const std::vector<std::int64_t> kSizes{10, 10, 10, 10};

DdpSchedule with(BucketCaps caps, double transfer_ns, bool overlaps = true) {
  return schedule_ddp(kStep, kSizes,
                      {caps, overlaps, [=](double bytes) { return transfer_ns * bytes / 10; }});
}

TEST(DdpSchedule, ReducesABucketOnceAllRanksHaveItsLastGradient) {
  const auto schedule = with({20, 20}, 10);
  ASSERT_EQ(schedule.buckets.size(), 2u);
  EXPECT_EQ(schedule.buckets[0].bytes, 20);
  EXPECT_EQ(schedule.buckets[0].tensors, 2u);
  EXPECT_EQ(schedule.buckets[0].ready_ns, 250);
  EXPECT_EQ(schedule.buckets[0].start_ns, 250);
  EXPECT_EQ(schedule.buckets[0].end_ns, 270);
  EXPECT_EQ(schedule.buckets[1].ready_ns, 400);
  EXPECT_EQ(schedule.backward_end_ns, 420);
  EXPECT_EQ(schedule.overlapped_ns, 20);
}

TEST(DdpSchedule, ReducesOneBucketAfterTheOther) {
  const auto schedule = with({10, 10}, 200);
  EXPECT_EQ(schedule.buckets[1].ready_ns, 250);
  EXPECT_EQ(schedule.buckets[1].start_ns, 300);
  EXPECT_EQ(schedule.backward_end_ns, 900) << "four transfers of 200 from 100 on";
  EXPECT_EQ(schedule.overlapped_ns, 300);
}

TEST(DdpSchedule, WithoutOverlapWaitsForTheLastGradient) {
  const auto schedule = with({10, 10}, 10, false);
  EXPECT_EQ(schedule.buckets[0].start_ns, 400);
  EXPECT_EQ(schedule.backward_end_ns, 440);
  EXPECT_EQ(schedule.overlapped_ns, 0);
}

TEST(DdpSchedule, EndsWithComputationWhereNothingIsMoved) {
  EXPECT_EQ(with({1000, 1000}, 0).backward_end_ns, 400);
}

}  // namespace
}  // namespace shardlens::trace::predict
