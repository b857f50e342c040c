// That it is PyTorch's: tests/trainer/strategy/ddp/bucket_prediction_test.cpp.
#include "trace/predict/schedule/bucket_plan.h"

#include <gtest/gtest.h>

namespace shardlens::trace::predict {
namespace {

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

}  // namespace
}  // namespace shardlens::trace::predict
