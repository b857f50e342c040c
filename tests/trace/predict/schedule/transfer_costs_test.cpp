#include "trace/predict/schedule/transfer_costs.h"

#include <gtest/gtest.h>

namespace shardlens::trace::predict {
namespace {

// 1000 ns and 2 ns a byte.
TransferCosts measured_at(std::initializer_list<double> sizes) {
  TransferCosts costs;
  for (const double size : sizes) {
    for (const double noise : {-4.0, 0.0, 4.0}) costs.add(size, 1000 + 2 * size + noise);
  }
  return costs;
}

TEST(TransferCosts, AreLinearBetweenMeasuredSizes) {
  const auto cost = measured_at({1000, 9000}).of(5000);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->ns, 11000);
  EXPECT_DOUBLE_EQ(cost->spread_ns, 2);
  EXPECT_FALSE(cost->is_extrapolated);
}

TEST(TransferCosts, GoOnAsBetweenSizesThatTellASlope) {
  // 8900 and 9000 are too near to each other to tell one.
  const TransferCosts costs = measured_at({1000, 6000, 9000, 11000});
  for (const double size : {100.0, 22000.0}) {
    const auto cost = costs.of(size);
    ASSERT_TRUE(cost) << size;
    EXPECT_NEAR(cost->ns, 1000 + 2 * size, 1e-6);
    EXPECT_TRUE(cost->is_extrapolated);
  }
}

TEST(TransferCosts, OfANearSizeAreItsOwn) {
  TransferCosts costs;
  for (const double ns : {10.0, 30.0, 90.0}) costs.add(1000, ns);
  const auto cost = costs.of(1050);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->ns, 30) << "the median";
  EXPECT_FALSE(costs.of(2000)) << "one size tells no slope";
}

TEST(TransferCosts, AreNotKnownFarAway) {
  EXPECT_FALSE(TransferCosts().of(1));
  const TransferCosts costs = measured_at({1000, 9000});
  EXPECT_TRUE(costs.of(63));
  EXPECT_FALSE(costs.of(62));
  EXPECT_TRUE(costs.of(36000));
  EXPECT_FALSE(costs.of(36001));
}

TEST(TransferCosts, OfNonsenseAreLeftOut) {
  TransferCosts costs;
  costs.add(-1, 5);
  costs.add(5, -1);
  EXPECT_FALSE(costs.of(5));
}

}  // namespace
}  // namespace shardlens::trace::predict
