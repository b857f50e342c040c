#include <gtest/gtest.h>

#include "app/session/watch/run_follower.h"

namespace shardlens::app::session {
namespace {

using trace::analysis::StepFigures;

StepFigures step(std::int64_t index, std::int64_t length_ns, bool detail = true) {
  StepFigures figures;
  figures.index = index;
  figures.complete = true;
  figures.start_ns = index * 1000;
  figures.end_ns = figures.start_ns + length_ns;
  figures.ranks.resize(2);
  for (auto& rank : figures.ranks) {
    rank.step_ns = length_ns;
    rank.has_detail = detail;
  }
  return figures;
}

TEST(FollowedStep, IsTheLatestWhoseDetailsHaveArrivedOfAllRanks) {
  const std::vector steps = {step(0, 900), step(1, 900), step(2, 900)};
  EXPECT_EQ(followed_step(steps, {2900, 2900}), 2);
  EXPECT_EQ(followed_step(steps, {2900, 2100}), 1);
}

TEST(FollowedStep, WaitsNoLongerForWhatHasSettled) {
  const std::vector steps = {step(0, 900), step(1, 900), step(2, 900)};
  EXPECT_EQ(followed_step(steps, {2100, 2100}, 2), 2);
}

TEST(FollowedStep, LeavesOutStepsThatARankHasNotReported) {
  std::vector steps = {step(0, 900), step(1, 900)};
  steps[1].complete = false;
  EXPECT_EQ(followed_step(steps, {5000, 5000}), 0);
}

TEST(FollowedStep, FallsBackToTheLatestWhenNothingIsRecordedInDetail) {
  const std::vector steps = {step(0, 900, false), step(1, 900, false)};
  EXPECT_EQ(followed_step(steps, {}), 1);
  EXPECT_EQ(followed_step({}, {}), -1);
}

TEST(FollowedStep, StaysAtTheLatestDetailedStepBetweenScheduledOnes) {
  const std::vector steps = {step(0, 900), step(1, 900, false)};
  EXPECT_EQ(followed_step(steps, {9000, 9000}), 0);
}

TEST(TypicalStep, IsTheMedianOfTheMeasuredOnes) {
  std::vector steps = {step(0, 990), step(1, 500), step(2, 300), step(3, 400)};
  steps[0].warmup = true;
  EXPECT_EQ(typical_step(steps), 3);
}

TEST(TypicalStep, PrefersStepsWithDetail) {
  const std::vector steps = {step(0, 500, false), step(1, 900, true), step(2, 500, false)};
  EXPECT_EQ(typical_step(steps), 1);
}

TEST(TypicalStep, IsTheLatestWhileAllAreWarmUp) {
  std::vector steps = {step(0, 500), step(1, 500)};
  for (auto& each : steps) each.warmup = true;
  EXPECT_EQ(typical_step(steps), 1);
  EXPECT_EQ(typical_step({}), -1);
}

TEST(FindStep, FindsByIndexAcrossGaps) {
  const std::vector steps = {step(0, 500), step(4, 500)};
  ASSERT_NE(find_step(steps, 4), nullptr);
  EXPECT_EQ(find_step(steps, 4)->index, 4);
  EXPECT_EQ(find_step(steps, 3), nullptr);
}

}  // namespace
}  // namespace shardlens::app::session
