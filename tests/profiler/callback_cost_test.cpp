#include "profiler/callback_cost.h"

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
  CallbackCost cost(30);
  EXPECT_EQ(cost.scaled_ns(130, 50), (100 + 50) * CallbackCost::kSampleEvery);
  EXPECT_EQ(cost.scaled_ns(260, 50), (230 + 100) * CallbackCost::kSampleEvery);
  EXPECT_EQ(cost.scaled_ns(4'000'000, 50),
            (CallbackCost::kLongestNs - 30 + 50) * CallbackCost::kSampleEvery);
}

// Outside of recorded steps nothing happens at an operator's end.
TEST(CallbackCost, AnEndThatDoesNothingMakesNoBeginSlow) {
  CallbackCost cost(30);
  cost.scaled_ns(35);
  EXPECT_EQ(cost.scaled_ns(130, 50), (100 + 50) * CallbackCost::kSampleEvery);
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
