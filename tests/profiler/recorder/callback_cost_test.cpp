#include "profiler/recorder/callback_cost.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace shardlens::profiler::recorder {
namespace {

TEST(CallbackCost, SamplesOneInAFixedNumber) {
  CallbackCost cost;
  int sampled = 0;
  for (std::uint32_t i = 0; i < 10 * CallbackCost::kSampleEvery; ++i) sampled += cost.sampled();
  EXPECT_EQ(sampled, 10);
}

TEST(CallbackCost, ASampleStandsForAllThatWereNotTimed) {
  EXPECT_EQ(CallbackCost().scaled_ns(100), 100 * CallbackCost::kSampleEvery);
}

// It waits for its code and data as the callback does; it does not do more work, so a long way is
// not paid for again in proportion to it.
TEST(CallbackCost, AddsWhatTheCallerNeedsWhichWaitsWhereTheCallbackWaits) {
  CallbackCost cost;
  EXPECT_EQ(cost.scaled_ns(130, 50), (130 + 50) * CallbackCost::kSampleEvery) << "not known yet";
  cost.compare(20);
  EXPECT_EQ(cost.scaled_ns(130, 50), (130 + 50) * CallbackCost::kSampleEvery);
  cost.compare(60);
  EXPECT_DOUBLE_EQ(cost.later_ns(), 20);
  EXPECT_EQ(cost.scaled_ns(130, 50), (130 + 50 + 20) * CallbackCost::kSampleEvery);
  EXPECT_EQ(cost.scaled_ns(130, 600), (130 + 600 + 20) * CallbackCost::kSampleEvery);
}

// A node's begin, say, which has a name to look up at times: it was not the caller that was slow.
TEST(CallbackCost, TakesNoCallerForSlowBecauseOneCallbackHadMoreToDo) {
  CallbackCost cost;
  cost.compare(30);
  cost.compare(30);
  EXPECT_EQ(cost.scaled_ns(110, 500), (110 + 500) * CallbackCost::kSampleEvery);
}

TEST(CallbackCost, LearnsNothingOfCallersFromPreemption) {
  CallbackCost cost;
  cost.compare(40);
  cost.compare(4'000'000);
  EXPECT_DOUBLE_EQ(cost.later_ns(), 0);
}

TEST(CallbackCost, DoesNotCountPreemption) {
  EXPECT_EQ(CallbackCost().scaled_ns(4'000'000),
            CallbackCost::kLongestNs * CallbackCost::kSampleEvery);
}

TEST(CallbackClock, NothingTakesAboutNoTimeAndNeverLessThanNone) {
  const CallbackClock clock = CallbackClock::calibrate();
  std::int64_t least = INT64_MAX;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t before = clock.now();
    const std::int64_t span = clock.ns_between(before, clock.now());
    ASSERT_GE(span, 0);
    least = std::min(least, span);
  }
  EXPECT_LT(least, 20);
}

// In one of several attempts: who was interrupted between two readings measures something else.
TEST(CallbackClock, AgreesWithTheWallClock) {
  using std::chrono::steady_clock;
  const CallbackClock clock = CallbackClock::calibrate();
  double off = 1;
  for (int attempt = 0; attempt < 10 && off > 0.02; ++attempt) {
    const auto wall = steady_clock::now();
    const std::uint64_t before = clock.now();
    while (steady_clock::now() - wall < std::chrono::milliseconds(2)) {
    }
    const std::int64_t span = clock.ns_between(before, clock.now());
    const auto passed = std::chrono::duration<double, std::nano>(steady_clock::now() - wall);
    off = std::abs(static_cast<double>(span) / passed.count() - 1);
  }
  EXPECT_LE(off, 0.02);
}

}  // namespace
}  // namespace shardlens::profiler::recorder
