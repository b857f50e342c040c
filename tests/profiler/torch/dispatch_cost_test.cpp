#include "profiler/torch/dispatch_cost.h"

#include <ATen/record_function.h>
#include <gtest/gtest.h>

namespace shardlens::profiler {
namespace {

TEST(DispatchCost, IsWhatAnObservedOperatorNeedsMoreAndNobodyObservesAfterwards) {
  const double ns = dispatch_cost_ns();
  EXPECT_GT(ns, 5) << "an observer is at least called";
  EXPECT_LT(ns, 100'000);
  EXPECT_FALSE(at::hasGlobalCallbacks());
}

}  // namespace
}  // namespace shardlens::profiler
