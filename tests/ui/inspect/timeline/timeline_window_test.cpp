#include "ui/inspect/timeline/timeline_window.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

namespace shardlens::ui::inspect {

namespace {

constexpr std::int64_t kHour = 3'600'000'000'000;
constexpr std::int64_t kBegin = 1'795'183'331'000'000'123;

TEST(TimeWindow, ShowsEverythingWhenFitted) {
  TimeWindow window;
  window.set_extent(kBegin, kBegin + 10 * kHour);
  EXPECT_LT(window.start_ns(), kBegin);
  EXPECT_GT(window.end_ns(), kBegin + 10 * kHour);
  EXPECT_LT(window.span_ns(), 1.05 * 10 * static_cast<double>(kHour));
}

TEST(TimeWindow, FollowsARunThatGrowsWhileFitted) {
  TimeWindow window;
  window.set_extent(kBegin, kBegin + 1'000);
  window.set_extent(kBegin, kBegin + 2'000'000);
  EXPECT_GT(window.end_ns(), kBegin + 2'000'000);
  window.zoom(0.5, 4);
  const TimeWindow before = window;
  window.set_extent(kBegin, kBegin + 9'000'000);
  EXPECT_EQ(window.start_ns(), before.start_ns());
  EXPECT_EQ(window.span_ns(), before.span_ns());
}

// From ten hours down to single nanoseconds and back, at several places of the window.
TEST(TimeWindow, ZoomKeepsTheTimeUnderThePointerToTheNanosecond) {
  for (const double at : {0.2, 0.5, 0.731}) {
    TimeWindow window;
    window.set_extent(kBegin, kBegin + 10 * kHour);
    window.zoom(0.5, 1.5);
    const std::int64_t pointed = window.time_at(at);
    for (int i = 0; i < 200; ++i) {
      const double before = window.span_ns();
      window.zoom(at, 1.25);
      ASSERT_NEAR(static_cast<double>(window.time_at(at) - pointed), 0, 1) << window.span_ns();
      if (window.span_ns() == before) break;
    }
    EXPECT_LE(window.span_ns(), 100);
    for (int i = 0; i < 110; ++i) {
      window.zoom(at, 1 / 1.25);
      ASSERT_NEAR(static_cast<double>(window.time_at(at) - pointed), 0, 1) << window.span_ns();
    }
  }
}

TEST(TimeWindow, TellsNeighbouringNanosecondsApartAfterTenHours) {
  TimeWindow window;
  window.set_extent(kBegin, kBegin + 10 * kHour);
  const std::int64_t event = kBegin + 9 * kHour + 987'654'321;
  window.show(event - 20, event + 20);
  const double width = 1'600;
  const double pixels = (window.position(event + 1) - window.position(event)) * width;
  EXPECT_NEAR(pixels, width / window.span_ns(), 1e-6);
  EXPECT_EQ(window.time_at(window.position(event) + 0.1 / width), event);
  EXPECT_EQ(window.time_at(window.position(event + 1) + 0.1 / width), event + 1);
}

TEST(TimeWindow, PanningThereAndBackLosesNothing) {
  TimeWindow window;
  window.set_extent(kBegin, kBegin + 10 * kHour);
  window.show(kBegin + 5 * kHour, kBegin + 5 * kHour + 1'000);
  const std::int64_t before = window.time_at(0.5);
  for (int i = 0; i < 1'000; ++i) window.pan(0.013);
  for (int i = 0; i < 1'000; ++i) window.pan(-0.013);
  EXPECT_NEAR(static_cast<double>(window.time_at(0.5) - before), 0, 1);
}

TEST(TimeWindow, StaysWithinTheRun) {
  TimeWindow window;
  window.set_extent(kBegin, kBegin + kHour);
  window.zoom(0, 50);
  window.pan(-1e6);
  EXPECT_LE(window.position(kBegin), 0.02);
  EXPECT_GE(window.position(kBegin), 0);
  window.pan(1e9);
  EXPECT_GE(window.position(kBegin + kHour), 0.98);
  EXPECT_LE(window.position(kBegin + kHour), 1);
  window.zoom(0.3, 1e-9);
  EXPECT_TRUE(window.is_fitted());
}

TEST(TimeWindow, SurvivesDamagedTimes) {
  TimeWindow window;
  window.set_extent(std::numeric_limits<std::int64_t>::min(),
                    std::numeric_limits<std::int64_t>::max());
  for (int i = 0; i < 50; ++i) {
    window.zoom(0.9, 1.7);
    window.pan(3);
    EXPECT_TRUE(std::isfinite(window.position(std::numeric_limits<std::int64_t>::max())));
    EXPECT_TRUE(std::isfinite(window.position(std::numeric_limits<std::int64_t>::min())));
  }
  window.set_extent(7, 3);  // reversed
  window.fit();
  EXPECT_LE(window.start_ns(), 7);
  window.show(5, 5);
  EXPECT_GT(window.span_ns(), 0);
}

TEST(TimeWindow, ShowsWhatIsAskedFor) {
  TimeWindow window;
  window.set_extent(kBegin, kBegin + kHour);
  window.show(kBegin + 100, kBegin + 400);
  EXPECT_EQ(window.start_ns(), kBegin + 100);
  EXPECT_NEAR(window.span_ns(), 300, 1e-9);
  window.center_on(kBegin + 1'000'000);
  EXPECT_EQ(window.time_at(0.5), kBegin + 1'000'000);
  window.show(kBegin + 500, kBegin + 501);  // shorter than the least
  EXPECT_NEAR(window.position(kBegin + 500) + window.position(kBegin + 501), 1, 1e-9);
}

}  // namespace

}  // namespace shardlens::ui::inspect
