#include "profiler/recorder/callback_cost.h"

#include <gtest/gtest.h>

namespace shardlens::profiler {
namespace {

TEST(CallbackCost, SamplesOneInAFixedNumber) {
  CallbackCost cost(0);
  int sampled = 0;
  for (std::uint32_t i = 0; i < 10 * CallbackCost::kSampleEvery; ++i) sampled += cost.sampled();
  EXPECT_EQ(sampled, 10);
}

TEST(CallbackCost, ScalesASampleAfterTakingTheClockOff) {
  CallbackCost cost(30);
  EXPECT_EQ(cost.scaled_ns(130), 100 * CallbackCost::kSampleEvery);
  EXPECT_EQ(cost.scaled_ns(20), 0);
}

TEST(CallbackCost, AddsWhatTheCallerNeedsWhichIsSlowWhereTheCallbackIs) {
  const CallbackCost cost(30);
  CallbackCost::Caller caller{50};
  EXPECT_EQ(cost.scaled_ns(130, caller), (100 + 50) * CallbackCost::kSampleEvery);
  EXPECT_EQ(cost.scaled_ns(260, caller), (230 + 100) * CallbackCost::kSampleEvery);
  EXPECT_EQ(cost.scaled_ns(4'000'000, caller),
            (CallbackCost::kLongestNs - 30 + 50) * CallbackCost::kSampleEvery);
}

// A node's begin has a longer name to look up than an operator's, at any time.
TEST(CallbackCost, ComparesACallerWithItsOwnKindOnly) {
  const CallbackCost cost(30);
  CallbackCost::Caller operators{50}, nodes{500};
  cost.scaled_ns(50, operators);
  EXPECT_EQ(cost.scaled_ns(130, nodes), (100 + 500) * CallbackCost::kSampleEvery);
}

TEST(CallbackCost, DoesNotCountPreemption) {
  CallbackCost cost(0);
  EXPECT_EQ(cost.scaled_ns(4'000'000), CallbackCost::kLongestNs * CallbackCost::kSampleEvery);
}

TEST(CallbackCost, CalibratesToThePriceOfTheClock) {
  const auto price = CallbackCost::calibrate_ns();
  EXPECT_GE(price, 0);
  EXPECT_LT(price, 10'000);
}

}  // namespace
}  // namespace shardlens::profiler
