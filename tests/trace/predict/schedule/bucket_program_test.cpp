#include "trace/predict/schedule/bucket_program.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace shardlens::trace::predict
