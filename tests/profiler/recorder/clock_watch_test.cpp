#include "profiler/recorder/clock_watch.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace shardlens::profiler::recorder {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr ClockOffset kAtFirst{.offset_ns = 1'700'000'000'000 * kMs, .error_ns = 50};

ClockOffset later(std::int64_t moved_ns, std::int64_t error_ns) {
  return {kAtFirst.offset_ns + moved_ns, error_ns};
}

TEST(ClockInterval, IsOverOnceInItsLengthAndWhenTheClockWasSetBack) {
  ClockInterval second(1'000 * kMs);
  const std::int64_t start = kAtFirst.offset_ns, set_back = start - 3'600'000 * kMs;
  EXPECT_TRUE(second.is_over(start));
  EXPECT_FALSE(second.is_over(start));
  EXPECT_FALSE(second.is_over(start + 999 * kMs));
  EXPECT_TRUE(second.is_over(start + 1'000 * kMs));
  EXPECT_TRUE(second.is_over(set_back));
  EXPECT_FALSE(second.is_over(set_back + 999 * kMs));
  EXPECT_TRUE(second.is_over(set_back + 1'000 * kMs));
}

TEST(ClockWatch, TellsOnceByHowMuchTheClockWasSet) {
  ClockWatch watch;
  EXPECT_EQ(watch.moved(kAtFirst), std::nullopt);
  EXPECT_EQ(watch.moved(later(-3'600'000 * kMs, 50)), -3'600'000 * kMs);
  EXPECT_EQ(watch.moved(later(-3'600'000 * kMs, 50)), std::nullopt);
  EXPECT_EQ(watch.moved(later(5 * kMs, 50)), 3'600'005 * kMs);
}

TEST(ClockWatch, DoesNotTakeAPreemptedReadingForASetClock) {
  ClockWatch watch;
  EXPECT_EQ(watch.moved(later(1'500'000, 1'600'000)), std::nullopt);
  EXPECT_EQ(watch.moved(kAtFirst), std::nullopt);
  EXPECT_EQ(watch.moved(later(-4 * kMs, 4 * kMs)), std::nullopt);
  EXPECT_EQ(watch.moved(kAtFirst), std::nullopt);
  EXPECT_EQ(watch.moved(later(6 * kMs, 4 * kMs)), 6 * kMs) << "it is off by more than the doubt";
}

TEST(ClockWatch, AddsUpSmallSteps) {
  ClockWatch watch;
  watch.moved(kAtFirst);
  EXPECT_EQ(watch.moved(later(600'000, 50)), std::nullopt);
  EXPECT_EQ(watch.moved(later(1'200'000, 50)), 1'200'000);
}

TEST(ClockWatch, ReadsClocksThatNobodySetsAlike) {
  ClockWatch watch;
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(watch.moved(ClockWatch::read()), std::nullopt);
}

TEST(ClockOffset, IsThatOfTheShortestRoundTripAndNotOffByMoreThanItsError) {
  // Five readings: reference before, clock, reference after. The third is the shortest.
  constexpr std::array<std::int64_t, 10> kReference{0,     900,   1'000, 1'400, 2'000,
                                                    2'030, 3'000, 3'800, 4'000, 4'500};
  constexpr std::array<std::int64_t, 5> kClock{10'800, 11'100, 12'010, 13'700, 14'100};
  std::size_t references = 0, clocks = 0;
  const auto offset = measure_clock_offset([&] { return std::optional(kClock[clocks++]); },
                                           [&] { return kReference[references++]; });
  ASSERT_TRUE(offset);
  EXPECT_EQ(offset->error_ns, 15);
  EXPECT_EQ(offset->offset_ns, 12'010 - 2'015);
  EXPECT_EQ(clocks, 5u);
}

}  // namespace
}  // namespace shardlens::profiler::recorder
