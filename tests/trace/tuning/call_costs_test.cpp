#include "trace/tuning/reduction_costs.h"

#include <gtest/gtest.h>

namespace shardlens::trace::tuning {
namespace {

// A megabyte in 3 ms, eight in 10 ms.
ReductionCosts costs_of(const job::Settings& recorded) {
  return {recorded, 2, predict::TransferCosts({{1e6, {3e6, 3e6}}, {8e6, {10e6}}})};
}

TEST(ReductionCosts, AreAsMeasuredOnTheSameLink) {
  const job::Settings settings;
  const auto cost = costs_of(settings).of(settings, 8e6);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->transfer.ns, 10e6);
  EXPECT_DOUBLE_EQ(cost->working_ns, 10e6) << "the backend's own work";
}

// 8e6 bytes between two ranks at 1 Gbit/s: 64 ms, and 0.2 ms of latency.
TEST(ReductionCosts, OfASlowerLinkAreItsFormula) {
  const job::Settings recorded;
  job::Settings next;
  next.simulate_link = "latency_us=200,gbit_per_s=1";
  const auto cost = costs_of(recorded).of(next, 8e6);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->transfer.ns, 64.2e6);
  EXPECT_DOUBLE_EQ(cost->working_ns, 10e6) << "nobody computes for a link";
}

TEST(ReductionCosts, KeepWhatATransferTookBeyondItsLink) {
  job::Settings recorded, next;
  recorded.simulate_link = "latency_us=200,gbit_per_s=8";  // 1.2 ms of the 3 for a megabyte
  next.simulate_link = "latency_us=200,gbit_per_s=4";      // 2.2 ms
  const auto cost = costs_of(recorded).of(next, 1e6);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->transfer.ns, 4.0e6);
  EXPECT_DOUBLE_EQ(cost->working_ns, 2.5e6) << "of Gloo, as it is assumed";
}

TEST(ReductionCosts, OfCompressedGradientsAreThoseOfHalfTheBytes) {
  job::Settings settings;
  settings.communication_hook = job::CommunicationHook::kBf16Compress;
  const auto cost = costs_of(settings).of(settings, 2e6);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->transfer.ns, 3e6);
}

TEST(ReductionCosts, AreUnknownFarFromMeasuredSizes) {
  const job::Settings settings;
  EXPECT_FALSE(costs_of(settings).of(settings, 1e4));
  EXPECT_FALSE(costs_of(settings).of(settings, 1e9));
}

}  // namespace
}  // namespace shardlens::trace::tuning
