// Predicted buckets are those that PyTorch plans, whatever the sizes and caps.
#include <gtest/gtest.h>
#include <torch/types.h>

#include <cstdlib>
#include <random>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "trace/predict/schedule/bucket_program.h"

namespace shardlens::trainer::strategy {
namespace {

TEST(PredictedBuckets, AreThoseThatPyTorchPlans) {
  std::mt19937 random(17);
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = 1 + random() % 60;
    std::vector<torch::Tensor> gradients;
    std::vector<std::int64_t> bytes, order;
    for (std::size_t i = 0; i < count; ++i) {
      gradients.push_back(torch::empty({static_cast<std::int64_t>(1 + random() % 4000)}));
      bytes.push_back(static_cast<std::int64_t>(gradients.back().nbytes()));
      order.push_back(static_cast<std::int64_t>(i));
    }
    const std::size_t first = 1 + random() % 20000, cap = 1 + random() % 40000;
    const auto [buckets, limits] = c10d::compute_bucket_assignment_by_size(
        gradients, {first, cap}, std::vector<bool>(count, false), order);
    EXPECT_EQ(trace::predict::plan_buckets(
                  bytes, {static_cast<std::int64_t>(first), static_cast<std::int64_t>(cap)}),
              buckets)
        << "round " << round;
  }
}

}  // namespace
}  // namespace shardlens::trainer::strategy
