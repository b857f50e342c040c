#include "trace/analysis/figures/recording_cost.h"

#include <gtest/gtest.h>

#include <random>

namespace shardlens::trace::analysis {
namespace {

// A step in ten has detail and takes `longer` as much; all jitter by `noise`, and one is far off.
std::vector<StepFigures> steps_with(double longer, double noise, int count = 200, int every = 10) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> jitter(0, noise);
  std::vector<StepFigures> steps;
  for (int i = 0; i < count; ++i) {
    StepFigures step;
    step.index = i;
    step.complete = true;
    StepBreakdown rank;
    rank.has_detail = i % every == 0;
    const double ns = 1e6 * (rank.has_detail ? 1 + longer : 1) * (1 + jitter(random));
    rank.step_ns = static_cast<std::int64_t>(i == 55 ? 50 * ns : ns);
    step.ranks.assign(2, rank);
    steps.push_back(step);
  }
  return steps;
}

TEST(RecordingCost, IsMeasuredByStepsWithAndWithoutDetail) {
  const auto measured = measured_slowdown(steps_with(0.33, 0.05));
  ASSERT_TRUE(measured);
  // A third more, a tenth of the time; the step that is far off counts as time.
  const double plain = 180 + 49 + 20;
  EXPECT_NEAR(*measured, 20 * 0.33 / plain, 0.1 * 20 * 0.33 / plain);
}

TEST(RecordingCost, IsNotMeasuredWhereItIsLessThanChance) {
  EXPECT_FALSE(measured_slowdown(steps_with(0, 0.05)));
  EXPECT_FALSE(measured_slowdown(steps_with(0.002, 0.05)));
}

TEST(RecordingCost, IsNotMeasuredWithFewStepsOfAKind) {
  EXPECT_FALSE(measured_slowdown(steps_with(0.33, 0.01, 200, 1))) << "all with detail";
  EXPECT_FALSE(measured_slowdown(steps_with(0.33, 0.01, 70, 10)));
  EXPECT_TRUE(measured_slowdown(steps_with(0.33, 0.01, 80, 10)));
  EXPECT_FALSE(measured_slowdown({}));
}

TEST(RecordingCost, StepsThatAreNotReadYetAreOfNeitherKind) {
  auto steps = steps_with(0.33, 0.05);
  const auto measured = measured_slowdown(steps);
  for (int i = 0; i < 100; ++i) {
    steps.push_back(steps[0]);
    steps.back().ranks[1].has_detail = false;
    steps.back().ranks[1].awaits_detail = true;
  }
  EXPECT_EQ(measured_slowdown(steps), measured);
}

TEST(RecordingCost, IsToldAgainstTheTimeWithoutIt) {
  EXPECT_DOUBLE_EQ(slowdown(25, 100), 1.0 / 3);
  EXPECT_DOUBLE_EQ(slowdown(0, 100), 0);
  EXPECT_DOUBLE_EQ(slowdown(10, 0), 0);
}

}  // namespace
}  // namespace shardlens::trace::analysis
