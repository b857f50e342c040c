#include "trace/predict/schedule/bucket_program.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace shardlens::trace::predict {
namespace {

// Two gradients, at 100 and 200, and 30 in which sums go back from buckets.
const StepWork kStep{0,
                     {RankWork{0,
                               230,
                               {MicroBatchWork{.forward_begin = {},
                                               .backward_begin = {50},
                                               .gradients = {{100}, {200}},
                                               .end = {230}}},
                               230,
                               0}}};
const std::vector<std::int64_t> kBytes{8, 8};

std::int64_t end_of(std::size_t micro_batches, bool reduces_each) {
  BucketProgramPlan plan;
  plan.gradient_bytes = kBytes;
  plan.caps = {1000, 1000};
  plan.micro_batches = micro_batches;
  plan.reduces_each = reduces_each;
  plan.ranks = 1;
  return schedule_step(kStep, bucket_program(plan), 0).end_ns;
}

TEST(BucketProgram, OnlyAReducedMicroBatchTakesItsSumsFromBuckets) {
  EXPECT_EQ(end_of(1, false), 230);
  EXPECT_EQ(end_of(3, true), 3 * 230);
  EXPECT_EQ(end_of(3, false), 2 * 200 + 230);
}

// A fifth of the 200 up to the last gradient was done to reduce: one that is reduced no more does
// without, and one that is reduced now does as much beside it.
TEST(BucketProgram, OnlyAReducedMicroBatchWorksForItsReduction) {
  BucketProgramPlan plan{.gradient_bytes = kBytes, .caps = {1000, 1000}, .micro_batches = 3};
  plan.reducing_share = 0.2;
  plan.ranks = 1;
  EXPECT_EQ(schedule_step(kStep, bucket_program(plan), 0).end_ns, 2 * 160 + 230);
  StepWork two = kStep;
  two.ranks[0].micro_batches.push_back(two.ranks[0].micro_batches[0]);
  plan.recorded_micro_batches = 2;
  EXPECT_EQ(schedule_step(two, bucket_program(plan), 0).end_ns, 2 * 200 + 230)
      << "those before the last were not reduced, either";
  plan.reduces_each = true;
  EXPECT_EQ(schedule_step(two, bucket_program(plan), 0).end_ns, 2 * (250 + 30) + 230);
  plan.recorded_reduces_each = true;
  EXPECT_EQ(schedule_step(two, bucket_program(plan), 0).end_ns, 3 * 230);
}

// That it is PyTorch's: tests/trainer/strategy/ddp/bucket_prediction_test.cpp.
using Buckets = std::vector<std::vector<std::size_t>>;

TEST(BucketPrediction, ClosesABucketOnceItReachesItsCap) {
  const std::vector<std::int64_t> sizes{40, 60, 10, 10, 300, 5};
  EXPECT_EQ(plan_buckets(sizes, {100, 100}), (Buckets{{0, 1}, {2, 3, 4}, {5}}));
  EXPECT_EQ(plan_buckets(sizes, {40, 310}), (Buckets{{0}, {1, 2, 3, 4}, {5}}));
}

TEST(BucketPrediction, HasOneBucketForEachTensorOrOneForAll) {
  const std::vector<std::int64_t> sizes{3, 1, 2};
  EXPECT_EQ(plan_buckets(sizes, {0, 0}), (Buckets{{0}, {1}, {2}}));
  EXPECT_EQ(plan_buckets(sizes, {INT64_MAX, INT64_MAX}), (Buckets{{0, 1, 2}}));
  EXPECT_TRUE(plan_buckets({}, {1, 1}).empty());
}

std::vector<std::size_t> sizes_of(const std::vector<std::vector<std::size_t>>& plan) {
  std::vector<std::size_t> sizes;
  for (const auto& bucket : plan) sizes.push_back(bucket.size());
  return sizes;
}

TEST(FittingCaps, AreTheRangeFromTheSizeBeforeABucketsLastGradientToItsWholeSize) {
  const std::vector<std::int64_t> gradients{40, 60, 10, 10, 300, 5};
  const auto caps = fitting_caps(gradients, std::vector<std::size_t>{2, 3, 1});
  EXPECT_EQ(caps, (FittingCaps{{40, 100}, {20, 320}}));
  const auto one = fitting_caps(gradients, std::vector<std::size_t>{6});
  ASSERT_TRUE(one);
  EXPECT_EQ(one->first.above_bytes, 420);
  EXPECT_FALSE(one->first.has_end());
  EXPECT_EQ(one->others, CapRange{}) << "of buckets that there are none of any cap is possible";
}

TEST(FittingCaps, AreNoneOfBucketsThatNoCapsGive) {
  const std::vector<std::int64_t> gradients{10, 10, 10, 10, 10, 10};
  EXPECT_FALSE(fitting_caps(gradients, std::vector<std::size_t>{1, 1, 3, 1}));
  EXPECT_FALSE(fitting_caps(gradients, std::vector<std::size_t>{3, 2})) << "one is in no bucket";
  EXPECT_FALSE(fitting_caps(gradients, std::vector<std::size_t>{3, 4})) << "more than there are";
  EXPECT_FALSE(fitting_caps(gradients, std::vector<std::size_t>{0, 6}));
}

TEST(FittingCaps, AreExactlyThoseThatGiveTheSameBuckets) {
  std::mt19937 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> gradients(1 + random() % 30);
    for (auto& bytes : gradients) bytes = 4 * (1 + random() % 1000);
    const BucketCaps made{1 + static_cast<std::int64_t>(random() % 6000),
                          1 + static_cast<std::int64_t>(random() % 6000)};
    const auto buckets = sizes_of(plan_buckets(gradients, made));
    const auto caps = fitting_caps(gradients, buckets);
    ASSERT_TRUE(caps) << round;
    EXPECT_TRUE(caps->first.holds(made.first_bytes)) << round;
    EXPECT_TRUE(caps->others.holds(made.bytes)) << round;
    const auto gives_same = [&](std::int64_t first, std::int64_t others) {
      return sizes_of(plan_buckets(gradients, {first, others})) == buckets;
    };
    for (std::int64_t first = 1; first < 8000; first += 97) {
      EXPECT_EQ(gives_same(first, made.bytes), caps->first.holds(first)) << round << " " << first;
    }
    for (const std::int64_t others : {caps->others.above_bytes, caps->others.above_bytes + 1,
                                      caps->others.up_to_bytes, caps->others.up_to_bytes + 1}) {
      if (others < 1 || others > 1'000'000) continue;
      EXPECT_EQ(gives_same(made.first_bytes, others), caps->others.holds(others)) << round;
    }
  }
}

}  // namespace
}  // namespace shardlens::trace::predict
