#include "profiler/recorder/callback_cost.h"

#include <gtest/gtest.h>

namespace shardlens::profiler::recorder {
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
  EXPECT_EQ(cost.scaled_ns(130, 50), (100 + 50) * CallbackCost::kSampleEvery) << "not known yet";
  cost.compare(100);
  EXPECT_EQ(cost.scaled_ns(130, 50), (100 + 50) * CallbackCost::kSampleEvery);
  cost.compare(300);
  EXPECT_DOUBLE_EQ(cost.slower(), 2);
  EXPECT_EQ(cost.scaled_ns(130, 50), (100 + 100) * CallbackCost::kSampleEvery);
}

// A node's begin, say, which has a name to look up at times: it was not the caller that was slow.
TEST(CallbackCost, TakesNoCallerForSlowBecauseOneCallbackHadMoreToDo) {
  CallbackCost cost(0);
  cost.compare(30);
  cost.compare(30);
  EXPECT_EQ(cost.scaled_ns(110, 500), (110 + 500) * CallbackCost::kSampleEvery);
}

TEST(CallbackCost, LearnsNothingOfCallersFromPreemption) {
  CallbackCost cost(0);
  cost.compare(40);
  cost.compare(4'000'000);
  EXPECT_DOUBLE_EQ(cost.slower(), 1);
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
}  // namespace shardlens::profiler::recorder
