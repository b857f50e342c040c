#include "app/sweep/sweep_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "made_up_sweep.h"

namespace shardlens::app::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

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
  EXPECT_NEAR(*verdict.points[0].step_ns, std::cbrt(100. * 103 * 99) * 1e6, 1);
  EXPECT_NEAR(*verdict.points[0].exposed_ns, (100 + 103 + 99) / 3. * 1e5, 1);
  EXPECT_NEAR(*verdict.points[2].slower_by, 0.202, 0.002);
  EXPECT_GT(verdict.points[2].bounds->low, 0.15);
  EXPECT_THAT(verdict.why, HasSubstr("bucket_cap_mb=100 was fastest"));
  EXPECT_THAT(verdict.why, HasSubstr("100.2 cannot be told from it"));
}

// The slow one is the last of the second round: two of three values apart would stop it.
TEST(SweepVerdict, NothingIsStoppedWithinARound) {
  const SweepPlan plan = made_up_plan({100, 101, 200}, 6);
  SweepResults results{{{0, 0}, measured(100)},
                       {{1, 0}, measured(101)},
                       {{2, 0}, measured(200)},
                       {{0, 1}, measured(100.02)},
                       {{1, 1}, measured(101.02)}};
  ASSERT_EQ(next_slot(plan, results), (Slot{2, 1}));
  auto verdict = verdict_of(plan, results);
  EXPECT_EQ(verdict.points[2].standing, Standing::kSlower);
  EXPECT_EQ(verdict.points[2].reason, "");
  EXPECT_EQ(work_left(plan, results).runs, 3 * 6 - 5);
  results[{2, 1}] = measured(200.04);
  verdict = verdict_of(plan, results);
  EXPECT_EQ(verdict.points[2].standing, Standing::kStoppedEarly);
  EXPECT_THAT(verdict.points[2].reason, HasSubstr("after 2 runs"));
  results[{0, 2}] = failed("killed");
  EXPECT_EQ(verdict_of(plan, results).points[0].standing, Standing::kFailed) << "within a round";
}

// Run again in the end, it is behind by rounds that it has not been run in.
TEST(SweepVerdict, APointThatCatchesUpIsNotStoppedBeforeItHas) {
  const SweepPlan plan = made_up_plan({100, 101, 200}, 4);
  SweepResults results;
  while (const auto slot = next_slot(plan, results)) {
    if (slot->point == 2 && results.contains(*slot)) break;
    const double truth = plan.points.settings[slot->point].bucket_cap_mb;
    take(results, *slot,
         slot->point == 2 ? failed("killed") : measured(truth + 0.01 * slot->round));
  }
  take(results, {2, 0}, measured(200));
  ASSERT_EQ(next_slot(plan, results), (Slot{2, 1}));
  EXPECT_EQ(verdict_of(plan, results).points[2].standing, Standing::kSlower);
  take(results, {2, 1}, measured(200.01));
  EXPECT_FALSE(next_slot(plan, results));
  EXPECT_EQ(verdict_of(plan, results).points[2].standing, Standing::kStoppedEarly);
}

TEST(SweepVerdict, WithoutRepeatsNothingIsCalledSlower) {
  const SweepPlan plan = made_up_plan({100, 300}, 1);
  const auto verdict = verdict_of(plan, {{{0, 0}, measured(100)}, {{1, 0}, measured(300)}});
  EXPECT_EQ(verdict.points[1].standing, Standing::kNotKnown);
  EXPECT_FALSE(verdict.points[0].half_width_ns);
  EXPECT_FALSE(verdict.points[1].bounds);
  EXPECT_THAT(verdict.why, HasSubstr("run each point twice or more"));
}

// Its repeats are still to come: nothing else has to be done for them.
TEST(SweepVerdict, BeforeRepeatsHaveRunAsksForNone) {
  const SweepPlan plan = made_up_plan({100, 300}, 2);
  const auto verdict = verdict_of(plan, {{{0, 0}, measured(100)}, {{1, 0}, measured(300)}});
  EXPECT_THAT(verdict.why, HasSubstr("is fastest so far"));
  EXPECT_THAT(verdict.why, Not(HasSubstr("twice or more")));
}

TEST(SweepVerdict, AFailedPointIsNeverTheBest) {
  const SweepPlan plan = made_up_plan({1, 2, 3}, 2);
  const auto verdict = verdict_of(plan, {{{0, 0}, measured(50)},
                                         {{0, 1}, failed("rank 1 was killed")},
                                         {{1, 0}, measured(100)},
                                         {{1, 1}, measured(101)}});
  EXPECT_EQ(verdict.best, 1u);
  EXPECT_EQ(verdict.points[0].standing, Standing::kFailed);
  EXPECT_EQ(verdict.points[0].reason, "rank 1 was killed (it is run once more in the end)");
  EXPECT_FALSE(verdict.points[0].is_on_front);
  EXPECT_EQ(verdict.points[2].standing, Standing::kNotRun);
}

// The third was of an earlier command, which asked for more.
TEST(SweepVerdict, WhatFailedInARoundThatNobodyAsksForDoesNotCount) {
  const SweepPlan plan = made_up_plan({1, 2}, 2);
  SweepResults results{{{0, 0}, measured(50)},
                       {{0, 1}, measured(51)},
                       {{1, 0}, measured(100)},
                       {{1, 1}, measured(101)}};
  take(results, {0, 2}, failed("rank 1 was killed"));
  take(results, {0, 2}, failed("rank 1 was killed again"));
  const auto verdict = verdict_of(plan, results);
  EXPECT_EQ(verdict.best, 0u);
  EXPECT_EQ(verdict.points[0].standing, Standing::kBest);
  EXPECT_EQ(verdict.points[1].standing, Standing::kSlower);
}

// The other has one run, far slower: no test was made between the two.
TEST(SweepVerdict, NothingIsClaimedOfAPointThatFailed) {
  const SweepPlan plan = made_up_plan({4, 25}, 2);
  SweepResults results{{{0, 0}, measured(138.4)},
                       {{0, 1}, failed("rank 1 was killed")},
                       {{1, 0}, measured(100)},
                       {{1, 1}, measured(101)}};
  auto verdict = verdict_of(plan, results);
  EXPECT_THAT(verdict.why, HasSubstr("bucket_cap_mb=25 is the only point that did not fail"));
  EXPECT_THAT(verdict.why, HasSubstr("Not judged: 4, which failed and is run once more"));
  EXPECT_THAT(verdict.why, Not(HasSubstr("beyond noise")));
  take(results, {0, 1}, failed("rank 1 was killed again"));
  verdict = verdict_of(plan, results);
  EXPECT_THAT(verdict.why, testing::EndsWith("Not judged: 4, which failed"));
  EXPECT_EQ(verdict.points[0].reason,
            "rank 1 was killed again (and so it did when it was run again)");
  take(results, {0, 1}, measured(139));
  verdict = verdict_of(plan, results);
  EXPECT_EQ(verdict.points[0].standing, Standing::kSlower);
  EXPECT_THAT(verdict.why, HasSubstr("; 4 is slower beyond noise"));
  EXPECT_THAT(verdict.why, Not(HasSubstr("failed")));
  EXPECT_EQ(verdict.points[0].failed_once, "rank 1 was killed again");
}

// With one that failed none of the others can be told apart: that is not "all are within noise".
TEST(SweepVerdict, SaysOnlyOfWhatWasMeasuredThatItIsWithinNoise) {
  const SweepPlan plan = made_up_plan({1, 2, 3, 4}, 2);
  const auto verdict = verdict_of(plan, {{{0, 0}, measured(100)},
                                         {{0, 1}, measured(110)},
                                         {{1, 0}, measured(105)},
                                         {{1, 1}, measured(101)},
                                         {{2, 0}, measured(50)},
                                         {{2, 1}, failed("killed")}});
  EXPECT_THAT(verdict.why, HasSubstr("No point can be called fastest"));
  EXPECT_THAT(verdict.why, HasSubstr("Lowest was bucket_cap_mb=2"));
  EXPECT_THAT(verdict.why, HasSubstr("Not judged: 3, which failed"));
  EXPECT_THAT(verdict.why, HasSubstr("1 point is not measured yet"));
}

// Arithmetic means put the other one first: 129.2 beside 125.6 of an audit.
TEST(SweepVerdict, TheBestIsNeverShownSlowerThanTheRunnerUp) {
  std::mt19937_64 random(6);
  std::lognormal_distribution<double> value(std::log(100), 0.3);
  std::bernoulli_distribution is_measured(0.8);
  int other_by_plain_means = 0;
  for (int sweep = 0; sweep < 500; ++sweep) {
    const SweepPlan plan = made_up_plan({1, 2, 3}, 3);
    SweepResults results;
    for (std::size_t point = 0; point < 3; ++point) {
      for (int round = 0; round < 3; ++round) {
        if (round == 0 || is_measured(random)) results[{point, round}] = measured(value(random));
      }
    }
    const auto verdict = verdict_of(plan, results);
    ASSERT_TRUE(verdict.best);
    for (std::size_t point = 0; point < 3; ++point) {
      const auto& best = verdict.points[*verdict.best];
      EXPECT_LE(*best.step_ns, *verdict.points[point].step_ns * (1 + 1e-12));
      EXPECT_NEAR(*verdict.points[point].step_ns / *best.step_ns - 1,
                  *verdict.points[point].slower_by, 1e-9);
    }
    const auto plain = [&](std::size_t point) {
      double sum = 0, runs = 0;
      for (const auto& [slot, result] : results) {
        if (slot.point == point) sum += result.measure->step_ns, ++runs;
      }
      return sum / runs;
    };
    for (std::size_t point = 0; point < 3; ++point) {
      other_by_plain_means += plain(point) < plain(*verdict.best);
    }
  }
  EXPECT_GT(other_by_plain_means, 10) << "the two means never disagree";
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
  EXPECT_NEAR(*verdict.points[1].tokens_per_s, 1300, 1e-6);
}

TEST(SweepVerdict, CallsTheHighestRateTheHighest) {
  SweepPlan plan = made_up_plan({1, 2}, 2);
  plan.points.settings[1].batch_per_rank *= 2;
  SweepResults results{{{0, 0}, measured(100)},
                       {{0, 1}, measured(104)},
                       {{1, 0}, measured(200)},
                       {{1, 1}, measured(190)}};
  const double rates[] = {1000, 1100, 1120, 1040};
  std::size_t i = 0;
  for (auto& [slot, result] : results) result.measure->tokens_per_s = rates[i++];
  const auto verdict = verdict_of(plan, results);
  EXPECT_THAT(verdict.why, HasSubstr("Highest was bucket_cap_mb=2"));
  EXPECT_THAT(verdict.why, HasSubstr(" k tokens/s"));
  EXPECT_NEAR(*verdict.points[0].tokens_per_s, std::sqrt(1000 * 1100.), 1e-6);
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

// ---- the front ----------------------------------------------------------------------------------

void set_memory(SweepResults& results, const std::vector<double>& mebibytes) {
  for (auto& [slot, result] : results) {
    result.measure->peak_tensor_bytes = mebibytes[slot.point] * (1 << 20);
  }
}

std::vector<bool> front_of(const SweepPlan& plan, const SweepResults& results) {
  std::vector<bool> front;
  for (const auto& point : verdict_of(plan, results).points) front.push_back(point.is_on_front);
  return front;
}

TEST(SweepFront, HoldsWhatNoneBeatsInBothBeyondNoise) {
  const SweepPlan plan = made_up_plan({120, 100, 140, 110}, 3);
  std::mt19937_64 random(4);
  SweepResults results = made_up_results(plan, {.noise = 0.001}, random);
  // Least memory; fastest; needs more than 0 and is slower; needs more than 1 and is slower.
  set_memory(results, {40, 60, 50, 70});
  EXPECT_EQ(front_of(plan, results), (std::vector<bool>{true, true, false, false}));
}

// As of the same tensors in every run, but for some bytes.
TEST(SweepFront, WhatNoiseDoesNotTellFromTheFastestOfEqualMemoryIsOnIt) {
  const SweepPlan plan = made_up_plan({100, 100.2, 150}, 3);
  SweepResults results{{{0, 0}, measured(99)},  {{0, 1}, measured(101)},  {{0, 2}, measured(100)},
                       {{1, 0}, measured(101)}, {{1, 1}, measured(99.4)}, {{1, 2}, measured(100.2)},
                       {{2, 0}, measured(150)}, {{2, 1}, measured(150)},  {{2, 2}, measured(150)}};
  set_memory(results, {45.9, 45.9 + 8.0 / (1 << 20), 45.9});
  EXPECT_EQ(front_of(plan, results), (std::vector<bool>{true, true, false}));
}

TEST(SweepFront, WithoutAKnownSpreadNothingIsBeatenByTimeAlone) {
  SweepResults results{{{0, 0}, measured(100)}, {{1, 0}, measured(200)}, {{2, 0}, measured(300)}};
  set_memory(results, {40, 40, 80});
  EXPECT_EQ(front_of(made_up_plan({100, 200, 300}, 1), results),
            (std::vector<bool>{true, true, false}));
}

TEST(SweepFront, TheBestIsAlwaysOnIt) {
  std::mt19937_64 random(9);
  std::uniform_int_distribution<int> time(95, 105), memory(40, 43);
  for (int i = 0; i < 300; ++i) {
    std::vector<double> truths, mebibytes;
    for (int point = 0; point < 6; ++point) {
      truths.push_back(time(random));
      mebibytes.push_back(memory(random));
    }
    SweepPlan plan = made_up_plan(truths, 3);
    plan.stops_early = false;
    SweepResults results = made_up_results(plan, {.noise = 0.05}, random);
    set_memory(results, mebibytes);
    const auto verdict = verdict_of(plan, results);
    ASSERT_TRUE(verdict.best);
    EXPECT_TRUE(verdict.points[*verdict.best].is_on_front) << i;
  }
}

// Memory outside PyTorch differs between runs and plays no part.
TEST(SweepFront, IsOfTensors) {
  const SweepPlan plan = made_up_plan({100, 101}, 3);
  SweepResults results;
  for (int round = 0; round < 3; ++round) {
    results[{0, round}] = measured(100 + round);
    results[{1, round}] = measured(101.5 + round * 0.2);
    results[{0, round}].measure->peak_memory_bytes = 243e6 + 1e6 * round;
    results[{1, round}].measure->peak_memory_bytes = 241e6;
  }
  auto verdict = verdict_of(plan, results);
  EXPECT_TRUE(verdict.points[0].is_on_front);
  EXPECT_TRUE(verdict.points[1].is_on_front) << "it needs as much, and nothing tells it apart";
  for (int round = 0; round < 3; ++round) {
    results[{1, round}].measure->peak_tensor_bytes = 60e6;
  }
  verdict = verdict_of(plan, results);
  EXPECT_TRUE(verdict.points[0].is_on_front);
  EXPECT_FALSE(verdict.points[1].is_on_front);
}

}  // namespace
}  // namespace shardlens::app::sweep
