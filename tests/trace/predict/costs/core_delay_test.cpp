#include "trace/predict/costs/core_delay.h"

#include <gtest/gtest.h>

#include <cmath>

#include "trace/base/median.h"

namespace shardlens::trace::predict {
namespace {

constexpr CollectiveKind kObservedKind{model::CollectiveFunction::kAllReduce, 2};

// `count` beside computation, whose waits are the middles of as many equal parts of an exponential
// distribution, and as many beside which nobody computes.
std::vector<ObservedTransfer> transfers(std::int64_t bytes, double wait_ns, double link_ns,
                                        int count = 1000) {
  std::vector<ObservedTransfer> all;
  for (int i = 0; i < count; ++i) {
    const double waited_ns = -wait_ns * std::log((i + 0.5) / count);
    all.push_back({kObservedKind, bytes, 1, std::max(link_ns, waited_ns), link_ns});
    all.push_back({kObservedKind, bytes, 0, link_ns, link_ns});
  }
  return all;
}

TEST(CoreDelay, IsTheMeanWaitWhereNoLinkIsPassed) {
  const CoreDelay delay = CoreDelay::fit(transfers(1 << 20, 2e6, 0));
  ASSERT_TRUE(delay.exists());
  EXPECT_NEAR(delay.ns(0), 2e6, 0.01 * 2e6);
  const auto without = delay.without(transfers(1 << 20, 2e6, 0));
  const auto& times = without.at(kObservedKind).at(1 << 20);
  EXPECT_NEAR(base::mean_of(times), 0, 0.01 * 2e6) << "as those beside which nobody computes";
}

// What is above 10 ms of an exponential distribution with mean 8 ms: 8 e^(−10/8) = 2.29 ms; above
// 20 ms 0.66.
TEST(CoreDelay, HidesBehindALinksTime) {
  const CoreDelay delay = CoreDelay::fit(transfers(1 << 20, 8e6, 10e6));
  ASSERT_TRUE(delay.exists());
  EXPECT_NEAR(delay.ns(10e6), 2.29e6, 0.05e6);
  EXPECT_NEAR(delay.ns(20e6), 0.66e6, 0.05e6);
  EXPECT_DOUBLE_EQ(delay.ns(5e6), delay.ns(10e6)) << "shorter waits were not seen";
  EXPECT_NEAR(delay.observed_behind_ns(), 10e6, 1);
}

TEST(CoreDelay, IsToldBySizesApart) {
  auto all = transfers(1 << 20, 2e6, 0);
  for (const ObservedTransfer& each : transfers(8 << 20, 2e6, 0)) {
    all.push_back(each);
    all.back().ns += 50e6;  // all of them alike
  }
  EXPECT_NEAR(CoreDelay::fit(all).ns(0), 2e6, 0.01 * 2e6);
}

TEST(CoreDelay, IsNoneWhereNothingTellsIt) {
  EXPECT_FALSE(CoreDelay::fit({}).exists());
  EXPECT_EQ(CoreDelay().ns(0), 0);
  EXPECT_FALSE(CoreDelay::fit(transfers(1 << 20, 2e6, 0, 3)).exists()) << "six transfers";
  auto alike = transfers(1 << 20, 2e6, 0);
  for (ObservedTransfer& each : alike) each.beside = 0.5;
  EXPECT_FALSE(CoreDelay::fit(alike).exists()) << "ranks compute as much beside each";
  auto faster = transfers(1 << 20, 2e6, 10e6);
  for (ObservedTransfer& each : faster) each.ns = each.beside == 1 ? 10e6 : 12e6;
  EXPECT_FALSE(CoreDelay::fit(faster).exists()) << "a wait makes nothing faster";
}

}  // namespace
}  // namespace shardlens::trace::predict
