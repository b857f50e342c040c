#include "ui/present/timeline/timeline_time_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

namespace shardlens::ui::inspect {

namespace {

constexpr std::int64_t kMs = 1'000'000, kSec = 1'000'000'000, kMin = 60 * kSec, kHr = 60 * kMin;
constexpr std::int64_t kOfRun = 1'795'183'331'000'000'000;

TEST(LengthText, FitsItsUnitToTheSize) {
  EXPECT_EQ(present::length_text(0), "0 ns");
  EXPECT_EQ(present::length_text(812), "812 ns");
  EXPECT_EQ(present::length_text(3'610), "3.61 µs");
  EXPECT_EQ(present::length_text(14'900'000), "14.9 ms");
  EXPECT_EQ(present::length_text(90 * kSec), "90.0 s");
  EXPECT_EQ(present::length_text(3 * kMin + 12 * kSec), "3 min 12 s");
  EXPECT_EQ(present::length_text(2 * kHr + 5 * kMin), "2 h 05 min");
  EXPECT_EQ(present::length_text(-250), "−250 ns");
}

TEST(ExactText, KeepsEveryDigitOfTheStep) {
  EXPECT_EQ(present::exact_text(415'123'456, 1), "415.123456 ms");
  EXPECT_EQ(present::exact_text(415'123'456, 1'000), "415.123 ms");
  EXPECT_EQ(present::exact_text(415'123'456, kMs), "415 ms");
  EXPECT_EQ(present::exact_text(-1'500, 100), "−1.5 µs");
  EXPECT_EQ(present::exact_text(kHr + 2 * kMin + 3 * kSec, kSec), "1:02:03");
}

TEST(PlanAxis, PutsTicksOnMultiplesFromTheOrigin) {
  const present::AxisPlan plan =
      present::plan_axis(kOfRun + 120 * kMs, kOfRun + 980 * kMs, kOfRun, 5);
  ASSERT_EQ(plan.ticks.size(), 4u);
  EXPECT_EQ(plan.ticks.front().time_ns, kOfRun + 200 * kMs);
  EXPECT_EQ(plan.ticks.front().label, "200 ms");
  EXPECT_EQ(plan.ticks.back().label, "800 ms");
  EXPECT_TRUE(plan.base.empty());
}

TEST(PlanAxis, CountsSecondsOfAStepInMilliseconds) {
  const present::AxisPlan plan = present::plan_axis(kOfRun, kOfRun + 1'840 * kMs, kOfRun, 10);
  EXPECT_EQ(plan.ticks.back().label, "1800 ms");
  EXPECT_EQ(plan.ticks[1].time_ns - plan.ticks[0].time_ns, 200 * kMs);
}

// Nine hours in, a window of 60 ns: labels stay short and exact, and say what they count from.
TEST(PlanAxis, NamesABaseWhereLabelsWouldGrowTooLong) {
  const std::int64_t at = kOfRun + 9 * kHr + 123'456'789;
  const present::AxisPlan plan = present::plan_axis(at, at + 60, kOfRun, 8);
  ASSERT_FALSE(plan.ticks.empty());
  EXPECT_FALSE(plan.base.empty());
  for (const present::AxisTick& tick : plan.ticks) {
    EXPECT_GE(tick.time_ns, at);
    EXPECT_LE(tick.time_ns, at + 60);
    EXPECT_EQ(tick.time_ns % 10, 0);
    EXPECT_TRUE(tick.label.ends_with(" ns")) << tick.label;
    // Independent: the digits below a microsecond.
    EXPECT_EQ(std::stoll(tick.label) % 1'000, (tick.time_ns - kOfRun) % 1'000);
  }
}

TEST(PlanAxis, LabelsAreShortDistinctAndNeverMoreThanAsked) {
  for (std::int64_t span = 25; span < 20 * kHr; span = span * 3 / 2) {
    for (const std::int64_t offset : {std::int64_t{0}, 7 * kMs + 13, 5 * kHr + 17}) {
      const present::AxisPlan plan =
          present::plan_axis(kOfRun + offset, kOfRun + offset + span, kOfRun, 9);
      EXPECT_LE(plan.ticks.size(), 10u) << span;
      EXPECT_GE(plan.ticks.size(), 1u) << span;
      std::set<std::string> labels;
      for (const present::AxisTick& tick : plan.ticks) {
        EXPECT_LE(tick.label.size(), 12u) << tick.label << " " << span << " " << offset;
        labels.insert(tick.label);
      }
      EXPECT_EQ(labels.size(), plan.ticks.size()) << span << " " << offset;
    }
  }
}

TEST(PlanAxis, HasNoTicksInAnEmptyWindow) {
  EXPECT_TRUE(present::plan_axis(kOfRun, kOfRun, kOfRun, 5).ticks.empty());
  EXPECT_TRUE(present::plan_axis(kOfRun, kOfRun - 5, kOfRun, 5).ticks.empty());
}

}  // namespace

}  // namespace shardlens::ui::inspect
