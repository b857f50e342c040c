#include <gtest/gtest.h>

#include "trace/tuning/call_costs.h"

namespace shardlens::trace::tuning {
namespace {

using Function = model::CollectiveFunction;
using predict::CollectiveCosts;
using predict::CollectiveKind;
using Backend = CallCosts::Backend;

constexpr CollectiveKind kSum{Function::kAllReduce, 2};
constexpr CollectiveKind kGather{Function::kAllGather, 2};
constexpr CollectiveKind kScatter{Function::kReduceScatter, 2};

// 100 ns, and one a byte.
CollectiveCosts apart() {
  const predict::MeasuredTransfers line{{100, {200}}, {1000, {1100}}, {9000, {9100}}};
  return CollectiveCosts({{kSum, line}, {kGather, line}, {kScatter, line}});
}

// Of a run whose sums of next to nothing are held up by 800 ns, those of 5000 bytes by 400.
CollectiveCosts in_run() { return CollectiveCosts({{kSum, {{8, {1000}}, {5000, {5500}}}}}); }

TEST(DisturbedCosts, AreHeldUpAsTheRunsOwn) {
  const CollectiveCosts costs = disturbed_as(in_run(), apart(), Backend::kGloo);
  EXPECT_NEAR(costs.of(kSum, 1000)->ns, 1100 + 800 - 400.0 * 992 / 4992, 1e-6);
  EXPECT_DOUBLE_EQ(costs.of(kSum, 9000)->ns, 9100 + 400) << "as of the outermost";
}

// A run with one large bucket: a small one may wait for a core as long, but not be disturbed as
// long.
TEST(DisturbedCosts, OfSmallerSizesHaveTheirPartOfALongDelay) {
  const predict::MeasuredTransfers line{{100, {200e3}}, {1000, {1100e3}}, {9000, {9100e3}}};
  const CollectiveCosts alone({{kSum, line}});
  const auto held_up = [&](double bytes, double delay_ns) {
    const CollectiveCosts run({{kSum, {{9000, {9100e3 + delay_ns}}}}});
    return *disturbed_as(run, alone, Backend::kGloo).of(kSum, bytes);
  };
  for (const double bytes : {100.0, 1000.0}) {
    const double own_ns = (bytes + 100) * 1e3, part_ns = 8e6 * own_ns / 9100e3;
    EXPECT_NEAR(held_up(bytes, 3e6).ns, own_ns + 3e6, 1) << "each may wait as long";
    const auto cost = held_up(bytes, 12e6);
    EXPECT_NEAR(cost.ns, own_ns + 4e6 + part_ns, 1);
    EXPECT_GT(cost.spread_ns, part_ns / 4);
  }
  EXPECT_NEAR(held_up(9000, 12e6).ns, 9100e3 + 12e6, 1);
}

// Gloo moves half as much where it gathers, and as much where it scatters, for it sums all.
TEST(DisturbedCosts, OfOtherFunctionsAreByWhatTheBackendMoves) {
  const CollectiveCosts gloo = disturbed_as(in_run(), apart(), Backend::kGloo);
  EXPECT_DOUBLE_EQ(gloo.of(kGather, 9000)->ns, 9100 + 200);
  EXPECT_DOUBLE_EQ(gloo.of(kScatter, 9000)->ns, 9100 + 400);
  const CollectiveCosts nccl = disturbed_as(in_run(), apart(), Backend::kNccl);
  EXPECT_DOUBLE_EQ(nccl.of(kScatter, 9000)->ns, 9100 + 200);
}

TEST(DisturbedCosts, AreNeverLessThanApart) {
  const CollectiveCosts fast({{kSum, {{100, {10}}, {9000, {20}}}}});
  const CollectiveCosts costs = disturbed_as(fast, apart(), Backend::kGloo);
  EXPECT_DOUBLE_EQ(costs.of(kSum, 1000)->ns, 1100);
}

TEST(DisturbedCosts, AreAsApartWhereTheRunHasNothingAlike) {
  const CollectiveCosts other({{{Function::kAllReduce, 4}, {{1000, {9999}}}}});
  const CollectiveCosts costs = disturbed_as(other, apart(), Backend::kGloo);
  EXPECT_EQ(costs.measured(), apart().measured());
}

}  // namespace
}  // namespace shardlens::trace::tuning
