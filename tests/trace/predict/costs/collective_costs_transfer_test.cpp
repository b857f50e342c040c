#include <gtest/gtest.h>

#include "trace/predict/costs/collective_costs.h"

namespace shardlens::trace::predict {
namespace {

// 1000 ns and 2 ns a byte.
TransferCosts measured_at(std::initializer_list<double> sizes) {
  MeasuredTransfers measured;
  for (const double size : sizes) {
    for (const double noise : {-4.0, 0.0, 4.0}) {
      measured[size].push_back(1000 + 2 * size + noise);
    }
  }
  return TransferCosts(measured);
}

TEST(TransferCosts, AreLinearBetweenMeasuredSizes) {
  const auto cost = measured_at({1000, 9000}).of(5000);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->ns, 11000);
  EXPECT_DOUBLE_EQ(cost->spread_ns, 2);
  EXPECT_FALSE(cost->is_extrapolated);
}

// From some size on 6000 ns more, wherever between 100 and 4000 that is: the way there is steeper
// than the 2 ns a byte behind it.
TEST(TransferCosts, AreUnsureByAJumpThatIsSomewhereOnTheWay) {
  const TransferCosts costs({{100, {200}}, {4000, {14000}}, {9000, {24000}}});
  const double on_the_line = 200 + 1900 * 13800.0 / 3900, with_all = 14000 - 2 * 2000;
  const auto cost = costs.of(2000);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->ns, (on_the_line + with_all) / 2);
  EXPECT_DOUBLE_EQ(cost->spread_ns, (with_all - on_the_line) / 2);
  EXPECT_NEAR(costs.of(3999)->ns, 14000, 4);
  EXPECT_NEAR(costs.of(101)->ns, 200, 10) << "not from what was measured on";
  EXPECT_DOUBLE_EQ(costs.of(200)->ns, 200 + 100 * 13800.0 / 3900);
  EXPECT_DOUBLE_EQ(costs.of(6000)->ns, 18000);
  EXPECT_DOUBLE_EQ(costs.of(6000)->spread_ns, 0) << "nothing tells of one";
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

TEST(TransferCosts, OfMoreBytesAreNeverLess) {
  const TransferCosts costs({{1000, {50}}, {4000, {20}}});
  EXPECT_DOUBLE_EQ(costs.of(16000)->ns, 20);
  EXPECT_DOUBLE_EQ(costs.of(100)->ns, 50);
}

TEST(TransferCosts, OfASingleTransferAreAsUnsureAsTheOthers) {
  const TransferCosts costs({{1000, {80, 100, 120}}, {4000, {200}}});
  EXPECT_DOUBLE_EQ(costs.of(1000)->spread_ns, 10);
  EXPECT_DOUBLE_EQ(costs.of(4000)->spread_ns, 20);
}

// Of many calls it is the mean that adds up, with those that were held up.
TEST(TransferCosts, OfANearSizeAreItsMean) {
  const TransferCosts costs({{1000, {10, 30, 110}}});
  const auto cost = costs.of(1050);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->ns, 50);
}

// Latency and bandwidth share what the only size took in a way that nobody knows: each of these
// may have all of it.
TEST(TransferCosts, OfOneSizeLieBetweenAsLongAndInProportion) {
  const TransferCosts costs({{1000, {90, 100, 110}}, {1500, {90, 100, 110}}});
  for (const double size : {250.0, 700.0, 3000.0, 6000.0}) {
    const auto cost = costs.of(size);
    ASSERT_TRUE(cost) << size;
    const double edge = size < 1000 ? 1000 : 1500;
    const double proportional = 100 * size / edge;
    EXPECT_NEAR(cost->ns - cost->unsure_ns, std::min(100.0, proportional), 1e-9) << size;
    EXPECT_NEAR(cost->ns + cost->unsure_ns, std::max(100.0, proportional), 1e-9) << size;
    EXPECT_TRUE(cost->is_extrapolated);
  }
  EXPECT_FALSE(costs.of(249));
  EXPECT_FALSE(costs.of(6001));
  EXPECT_EQ(costs.of(1200)->unsure_ns, 0);
}

// A tenth less is not the same where others tell what a byte costs.
TEST(TransferCosts, NearTheOutermostSizesFollowTheSlope) {
  const TransferCosts costs = measured_at({1000, 9000});
  for (const double size : {950.0, 9800.0}) {
    const auto cost = costs.of(size);
    ASSERT_TRUE(cost) << size;
    EXPECT_NEAR(cost->ns, 1000 + 2 * size, 1e-6);
    EXPECT_FALSE(cost->is_extrapolated);
  }
}

TEST(TransferCosts, AreNotKnownFarAway) {
  EXPECT_FALSE(TransferCosts({}).of(1));
  const TransferCosts costs = measured_at({1000, 9000});
  EXPECT_TRUE(costs.of(63));
  EXPECT_FALSE(costs.of(62));
  EXPECT_TRUE(costs.of(36000));
  EXPECT_FALSE(costs.of(36001));
}

}  // namespace
}  // namespace shardlens::trace::predict
