#include "ui/inspect/timeline/timeline_steps.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace shardlens::ui::inspect {

namespace {

// Steps of 100 ns with a gap of 10 ns between them; rank 1 begins each one 3 ns later.
trace::timeline::TimelineRows two_ranks(int steps) {
  trace::timeline::TimelineRows rows;
  for (int rank = 0; rank < 2; ++rank) {
    trace::timeline::TimelineRank one;
    one.rank = rank;
    rows.ranks.push_back(one);
    for (int i = 0; i < steps; ++i) {
      const std::int64_t start = 1'000 + 110 * i + 3 * rank * i;
      rows.steps.push_back({i, rank, start, start + 100});
    }
  }
  return rows;
}

TEST(StepIndex, FindsStepsByTimeAndNumber) {
  const StepIndex steps(two_ranks(10));
  EXPECT_EQ(steps.reference_rank(), 0);
  EXPECT_EQ(steps.of(0).size(), 10u);
  EXPECT_EQ(steps.find(1, 4)->start_ns, 1'000 + 4 * 113);
  EXPECT_EQ(steps.at(0, 1'000)->step, 0);
  EXPECT_EQ(steps.at(0, 1'205)->step, 1);
  EXPECT_EQ(steps.at(0, 1'105), nullptr);  // between two
  EXPECT_EQ(steps.at(0, 999), nullptr);
  EXPECT_EQ(steps.find(0, 99), nullptr);
  EXPECT_EQ(steps.find(7, 1), nullptr);
}

// As where each rank's profiler had a schedule of its own.
TEST(StepIndex, CountsStepsOfAllRanksOnce) {
  trace::timeline::TimelineRows rows = two_ranks(10);
  EXPECT_EQ(StepIndex(rows).count_begun(INT64_MAX), 10u);
  EXPECT_EQ(StepIndex(rows).count_begun(1'000 + 110 * 4), 4u);
  std::erase_if(rows.steps, [](const auto& step) {
    return step.rank == 0 ? step.step >= 4 : step.step < 2 || step.step == 7;
  });
  EXPECT_EQ(StepIndex(rows).of(0).size(), 4u);
  EXPECT_EQ(StepIndex(rows).count_begun(INT64_MAX), 9u);  // 0 to 9 without 7
  EXPECT_EQ(StepIndex(rows).count_begun(1'000 + 113 * 5), 5u);
  rows.ranks.push_back(rows.ranks.back());
  rows.ranks.back().rank = 2;  // and a third that has what the second has
  const auto others = rows.steps;
  for (auto step : others) {
    if (std::exchange(step.rank, 2) == 1) rows.steps.push_back(step);
  }
  EXPECT_EQ(StepIndex(rows).count_begun(INT64_MAX), 9u);
  EXPECT_EQ(StepIndex(trace::timeline::TimelineRows{}).count_begun(INT64_MAX), 0u);
}

TEST(StepIndex, TakesTheClosestStepInGapsAndOutside) {
  const StepIndex steps(two_ranks(3));
  EXPECT_EQ(steps.nearest(0, 0)->step, 0);
  EXPECT_EQ(steps.nearest(0, 1'102)->step, 0);
  EXPECT_EQ(steps.nearest(0, 1'108)->step, 1);
  EXPECT_EQ(steps.nearest(0, 99'999)->step, 2);
  EXPECT_EQ(steps.nearest(5, 0), nullptr);
}

TEST(StepIndex, GivesWhatTouchesAWindow) {
  const trace::timeline::TimelineRows rows = two_ranks(20);
  const StepIndex steps(rows);
  for (std::int64_t from = 900; from < 3'400; from += 17) {
    for (const std::int64_t width : {1, 60, 500}) {
      std::size_t expected = 0;
      for (const auto& step : rows.steps) {
        expected += step.rank == 0 && step.start_ns < from + width && step.end_ns > from ? 1u : 0u;
      }
      EXPECT_EQ(steps.within(0, from, from + width).size(), expected) << from << " " << width;
    }
  }
}

TEST(StepIndex, MeasuresLengths) {
  trace::timeline::TimelineRows rows;
  rows.ranks.push_back({});
  std::int64_t at = 0;
  for (int i = 0; i < 40; ++i) {
    const std::int64_t length = i == 0 ? 5'000 : 100 + i;
    rows.steps.push_back({i, 0, at, at + length});
    at += length;
  }
  const StepIndex steps(rows);
  EXPECT_EQ(steps.longest(0)->step, 0);
  EXPECT_EQ(steps.longest(0, 4'999), nullptr);  // has not ended by then
  EXPECT_EQ(begun_before(steps.of(0), 5'001).size(), 2u);
  EXPECT_EQ(steps.lengths().longest_ns, 5'000);
  EXPECT_LE(steps.lengths().typical_ns, 139);
  EXPECT_GE(steps.lengths().typical_ns, 135);
  EXPECT_EQ(steps.lengths().mean_ns, at / 40);
}

TEST(StepShifts, PutTheStepInTheMiddleToTheSamePlace) {
  const trace::timeline::TimelineRows rows = two_ranks(10);
  const StepIndex steps(rows);
  const auto shifts = step_shifts(rows, steps, steps.find(0, 6)->start_ns + 50);
  ASSERT_EQ(shifts.size(), 2u);
  EXPECT_EQ(shifts[0], 0);
  EXPECT_EQ(steps.find(1, 6)->start_ns - shifts[1], steps.find(0, 6)->start_ns);
}

TEST(StepShifts, AreZeroWithoutSteps) {
  trace::timeline::TimelineRows rows;
  rows.ranks.resize(3);
  const StepIndex steps(rows);
  EXPECT_EQ(step_shifts(rows, steps, 5), (std::vector<std::int64_t>{0, 0, 0}));
  EXPECT_EQ(steps.reference_rank(), -1);
}

}  // namespace

}  // namespace shardlens::ui::inspect
