#include "app/sweep/sweep_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_up_sweep.h"

namespace shardlens::app::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SweepVerdict, TellsWithinNoiseFromSlower) {
  const SweepPlan plan = made_up_plan({100, 100.2, 120}, 3);
  const SweepResults results{
      {{0, 0}, measured(100, "a")}, {{0, 1}, measured(103, "b")}, {{0, 2}, measured(99, "c")},
      {{1, 0}, measured(101)},      {{1, 1}, measured(103.5)},    {{1, 2}, measured(99)},
      {{2, 0}, measured(120)},      {{2, 1}, measured(124)},      {{2, 2}, measured(119)}};
  const auto verdict = verdict_of(plan, results);
  ASSERT_TRUE(verdict.best);
  EXPECT_EQ(*verdict.best, 0u);
  EXPECT_EQ(verdict.points[0].standing, Standing::kBest);
  EXPECT_EQ(verdict.points[1].standing, Standing::kWithinNoise);
  EXPECT_EQ(verdict.points[2].standing, Standing::kSlower);
  EXPECT_THAT(verdict.points[0].runs, ElementsAre("a", "b", "c"));
  EXPECT_NEAR(*verdict.points[0].step_ns, (100 + 103 + 99) / 3. * 1e6, 1);
  EXPECT_NEAR(*verdict.points[0].exposed_ns, (100 + 103 + 99) / 3. * 1e5, 1);
  EXPECT_NEAR(*verdict.points[2].slower_by, 0.202, 0.002);
  EXPECT_GT(verdict.points[2].bounds->low, 0.15);
  EXPECT_THAT(verdict.why, HasSubstr("bucket_cap_mb=100 was fastest"));
  EXPECT_THAT(verdict.why, HasSubstr("100.2 cannot be told from it"));
}

TEST(SweepVerdict, WithoutRepeatsNothingIsCalledSlower) {
  const SweepPlan plan = made_up_plan({100, 300}, 1);
  const auto verdict = verdict_of(plan, {{{0, 0}, measured(100)}, {{1, 0}, measured(300)}});
  EXPECT_EQ(verdict.points[1].standing, Standing::kNotKnown);
  EXPECT_FALSE(verdict.points[0].half_width_ns);
  EXPECT_FALSE(verdict.points[1].bounds);
  EXPECT_THAT(verdict.why, HasSubstr("--repeat 2 or more"));
}

TEST(SweepVerdict, AFailedPointIsNeverTheBest) {
  const SweepPlan plan = made_up_plan({1, 2, 3}, 2);
  const auto verdict = verdict_of(plan, {{{0, 0}, measured(50)},
                                         {{0, 1}, failed("rank 1 was killed")},
                                         {{1, 0}, measured(100)},
                                         {{1, 1}, measured(101)}});
  EXPECT_EQ(verdict.best, 1u);
  EXPECT_EQ(verdict.points[0].standing, Standing::kFailed);
  EXPECT_EQ(verdict.points[0].reason, "rank 1 was killed");
  EXPECT_EQ(verdict.points[2].standing, Standing::kNotRun);
}

TEST(SweepVerdict, OfNothingThereIsNoBest) {
  const SweepPlan plan = made_up_plan({1, 2}, 2);
  EXPECT_FALSE(verdict_of(plan, {}).best);
  const auto verdict = verdict_of(plan, {{{0, 0}, failed("x")}, {{1, 0}, failed("y")}});
  EXPECT_FALSE(verdict.best);
  EXPECT_EQ(verdict.why, "");
}

TEST(SweepVerdict, ComparesTokensWhereAStepDoesOtherWork) {
  SweepPlan plan = made_up_plan({1, 2}, 1);
  plan.points.settings[1].batch_per_rank *= 2;
  SweepResults results{{{0, 0}, measured(100)}, {{1, 0}, measured(150)}};
  results[{0, 0}].measure->tokens_per_s = 1000;
  results[{1, 0}].measure->tokens_per_s = 1300;  // slower steps that do more
  const auto verdict = verdict_of(plan, results);
  EXPECT_EQ(verdict.best, 1u);
  EXPECT_NEAR(*verdict.points[0].slower_by, 0.3, 1e-9);
}

// Two equals and two others: how often a point is called slower than it can be.
TEST(SweepVerdict, TheTrueBestIsCalledSlowerInAtMostFiveOfAHundredSweeps) {
  constexpr int kSweeps = 1000;
  SweepPlan plan = made_up_plan({100, 100.01, 102, 105}, 3);
  plan.stops_early = false;
  std::mt19937_64 random(12);
  int wrong = 0, right = 0;
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    const auto verdict = verdict_of(plan, made_up_results(plan, {.noise = 0.005}, random));
    wrong += verdict.points[0].standing == Standing::kSlower;
    right += verdict.points[3].standing == Standing::kSlower;
  }
  EXPECT_LE(wrong, kSweeps * 5 / 100);
  EXPECT_GT(right, kSweeps * 9 / 10);
}

}  // namespace
}  // namespace shardlens::app::sweep
