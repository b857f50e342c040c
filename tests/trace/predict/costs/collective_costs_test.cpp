#include "trace/predict/costs/collective_costs.h"

#include <gtest/gtest.h>

namespace shardlens::trace::predict {
namespace {

using model::CollectiveFunction;

constexpr CollectiveKind kReduction{CollectiveFunction::kAllReduce, 2};
constexpr CollectiveKind kGather{CollectiveFunction::kAllGather, 2};

TEST(CollectiveCosts, AreApartByFunctionAndRanks) {
  MeasuredCollectives measured;
  measured[kReduction] = {{1000, {10}}, {4000, {40}}};
  measured[kGather] = {{1000, {7}}};
  measured[{CollectiveFunction::kAllReduce, 4}] = {{1000, {15}}};
  const CollectiveCosts costs(measured);
  EXPECT_DOUBLE_EQ(costs.of(kReduction, 2500)->ns, 25);
  EXPECT_DOUBLE_EQ(costs.of(kGather, 1000)->ns, 7);
  EXPECT_DOUBLE_EQ(costs.of({CollectiveFunction::kAllReduce, 4}, 1000)->ns, 15);
  EXPECT_FALSE(costs.of({CollectiveFunction::kBroadcast, 2}, 1000));
  EXPECT_EQ(costs.find({CollectiveFunction::kAllReduce, 8}), nullptr);
  EXPECT_TRUE(CollectiveCosts().empty());
}

TEST(CollectiveCosts, SumUpEachSizeByMedianAndQuartiles) {
  const auto rows = rows_of({{kReduction, {{64, {50, 10, 40, 20, 30}}, {128, {5}}, {256, {}}}}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0], (CostRow{kReduction, 64, 5, 30, 20, 40}));
  EXPECT_EQ(rows[1], (CostRow{kReduction, 128, 1, 5, std::nullopt, std::nullopt}))
      << "one call has no spread";
}

TEST(CollectiveCosts, OfRowsHaveTheirMediansAndQuartiles) {
  const MeasuredCollectives measured{{kGather, {{64, {1, 2, 4, 8, 16, 32, 64}}, {4096, {9}}}}};
  const auto rows = rows_of(measured);
  const CollectiveCosts before(measured), after(measured_from(rows));
  EXPECT_EQ(rows_of(measured_from(rows)).front().median_ns, 8);
  EXPECT_EQ(rows_of(measured_from(rows)).front().lower_quartile_ns, rows[0].lower_quartile_ns);
  EXPECT_EQ(rows_of(measured_from(rows)).front().upper_quartile_ns, rows[0].upper_quartile_ns);
  EXPECT_DOUBLE_EQ(after.of(kGather, 64)->spread_ns, before.of(kGather, 64)->spread_ns);
  EXPECT_DOUBLE_EQ(after.of(kGather, 4096)->ns, 9);
}

// Two of five calls are held up for 3 ms, as calls of some KiB on two cores are.
TEST(CollectiveCosts, OfRowsHoldWhatHoldsUpAQuarterOfTheCalls) {
  MeasuredTransfers times;
  for (const double ns : {5e5, 5e5, 5e5, 35e5, 35e5}) {
    for (int i = 0; i < 4; ++i) times[1024].push_back(ns);
  }
  const CollectiveCosts after(measured_from(rows_of({{kGather, times}})));
  EXPECT_DOUBLE_EQ(after.of(kGather, 1024)->ns, 17e5);
}

TEST(CollectiveCosts, WhatARunMeasuredWinsWhereItTellsOfASize) {
  const CollectiveCosts run({{kReduction, {{1000, {100}}, {16000, {900}}}}});
  const CollectiveCosts calibration(
      {{kReduction, {{500, {1}}, {2000, {150}}, {2001, {200}}, {4000, {300}}, {64000, {2500}}}},
       {kGather, {{1000, {70}}}}});
  const CollectiveCosts both = run.filled_from(calibration);
  EXPECT_DOUBLE_EQ(both.of(kReduction, 1000)->ns, 100);
  EXPECT_DOUBLE_EQ(both.of(kReduction, 16000)->ns, 900);
  const auto& sizes = both.measured().at(kReduction);
  EXPECT_FALSE(sizes.contains(500)) << "within a factor of two";
  EXPECT_FALSE(sizes.contains(2000)) << "within a factor of two";
  EXPECT_DOUBLE_EQ(sizes.at(2001).front(), 200);
  EXPECT_DOUBLE_EQ(both.of(kReduction, 4000)->ns, 300) << "a gap is filled";
  EXPECT_DOUBLE_EQ(both.of(kReduction, 40000)->ns, 900 + 1600 * 24.0 / 48);
  EXPECT_DOUBLE_EQ(both.of(kGather, 1000)->ns, 70) << "a kind that the run has not";
  EXPECT_FALSE(run.of(kReduction, 64001)) << "too far for the run alone";
  EXPECT_FALSE(run.of(kGather, 1000));
}

// Half of what lies between the quartiles: 40 of 100, 2 of 1,000. A small size that was mostly held
// up by something else says nothing of a large one that was measured once.
TEST(CollectiveCosts, SpreadIsThatOfTheNearestSize) {
  const CollectiveCosts costs(
      {{kReduction,
        {{64, {60, 60, 140, 140}}, {1 << 20, {998, 998, 1002, 1002}}, {8 << 20, {8000}}}}});
  const auto spread_ns = [&](double bytes) { return costs.of(kReduction, bytes)->spread_ns; };
  EXPECT_DOUBLE_EQ(spread_ns(64), 40);
  EXPECT_DOUBLE_EQ(spread_ns(1 << 20), 2);
  EXPECT_DOUBLE_EQ(spread_ns(8 << 20), 16) << "in proportion to the nearest";
  EXPECT_DOUBLE_EQ(spread_ns(1.05 * (1 << 20)), 2) << "as good as measured";
  EXPECT_DOUBLE_EQ(spread_ns(4.5 * (1 << 20)), 9) << "half way";
}

TEST(CollectiveCosts, MovingMoreNeverTakesLessWhereTwoSourcesMeet) {
  const CollectiveCosts run({{kReduction, {{1000, {500}}, {16000, {900}}}}});
  const CollectiveCosts calibration(
      {{kReduction, {{100, {700, 800, 900}}, {4000, {100}}, {8001, {2000}}, {64000, {600}}}}});
  const CollectiveCosts both = run.filled_from(calibration);
  EXPECT_DOUBLE_EQ(both.of(kReduction, 100)->ns, 500);
  EXPECT_DOUBLE_EQ(both.of(kReduction, 100)->spread_ns, 50) << "as measured";
  EXPECT_DOUBLE_EQ(both.of(kReduction, 4000)->ns, 500);
  EXPECT_DOUBLE_EQ(both.of(kReduction, 64000)->ns, 900);
}

}  // namespace
}  // namespace shardlens::trace::predict
