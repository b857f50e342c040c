#include "app/sweep/sweep_results.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "made_up_sweep.h"

namespace shardlens::app::sweep {
namespace {

using testing::HasSubstr;

std::vector<Slot> slots_of(const SweepPlan& plan, SweepResults results = {}) {
  std::vector<Slot> slots;
  while (const auto slot = next_slot(plan, results)) {
    slots.push_back(*slot);
    results[*slot] = measured(100);
  }
  return slots;
}

// Point 1 ran once, in the slow first round: a sweep takes that out, a search has no such rounds.
TEST(SweepNoise, OfASearchKnowsNoDriftOfRounds) {
  SweepPlan plan = made_up_plan({1, 2}, 2);
  const SweepResults results{
      {{0, 0}, measured(200)}, {{0, 1}, measured(100)}, {{1, 0}, measured(150)}};
  EXPECT_LT(*noise_of(plan, results, Goal::kStepTime, 2).level(1), 140e6);
  plan.search = SearchPlan{};
  EXPECT_NEAR(*noise_of(plan, results, Goal::kStepTime, 2).level(1), 150e6, 1);
}

TEST(SweepOrder, EveryRoundHoldsEveryPointOnce) {
  const auto slots = slots_of(made_up_plan({1, 2, 3, 4, 5}, 3));
  ASSERT_EQ(slots.size(), 15u);
  for (std::size_t round = 0; round < 3; ++round) {
    std::set<std::size_t> points;
    for (std::size_t i = 0; i < 5; ++i) {
      EXPECT_EQ(slots[5 * round + i].round, static_cast<int>(round));
      points.insert(slots[5 * round + i].point);
    }
    EXPECT_EQ(points.size(), 5u);
  }
}

TEST(SweepOrder, AnInterruptedSweepGoesOnAsIfItHadNotBeen) {
  SweepPlan plan = made_up_plan({1, 2, 3, 4, 5}, 3);
  plan.seed = 99;
  const auto all = slots_of(plan);
  for (std::size_t done = 0; done <= all.size(); ++done) {
    SweepResults results;
    for (std::size_t i = 0; i < done; ++i) results[all[i]] = measured(100);
    EXPECT_EQ(slots_of(plan, results),
              std::vector<Slot>(all.begin() + static_cast<std::ptrdiff_t>(done), all.end()));
  }
}

TEST(SweepOrder, MoreRepeatsGoOnAfterThoseThatAreThere) {
  SweepPlan plan = made_up_plan({1, 2}, 1);
  SweepResults results{{{0, 0}, measured(100)}, {{1, 0}, measured(101)}};
  EXPECT_FALSE(next_slot(plan, results));
  plan.repeats = 2;
  EXPECT_EQ(next_slot(plan, results)->round, 1);
}

TEST(SweepStates, APointThatFailsIsRunOnceMoreInTheEndAndThenNoMore) {
  const SweepPlan plan = made_up_plan({1, 2, 3}, 3);
  SweepResults results;
  std::vector<Slot> slots;
  while (const auto slot = next_slot(plan, results)) {
    slots.push_back(*slot);
    take(results, *slot, slot->point == 1 ? failed("out of memory") : measured(100));
  }
  EXPECT_EQ(results.size(), 3u + 2 + 2);
  EXPECT_EQ(slots.size(), 3u + 2 + 2 + 1);
  EXPECT_EQ(slots.back(), (Slot{1, 0}));
  EXPECT_EQ(states_at(plan, results, 3)[1].failure, "out of memory");
  EXPECT_EQ(work_left(plan, results).runs, 0);
}

// Its first run fails by accident: in the end it has as many as the others.
TEST(SweepStates, WhatFailedByAccidentIsMeasuredAsOftenAsTheOthers) {
  const SweepPlan plan = made_up_plan({1, 2, 3}, 3);
  SweepResults results;
  bool has_failed = false;
  std::vector<Slot> slots;
  while (const auto slot = next_slot(plan, results)) {
    EXPECT_EQ(runs_made(results), slots.size());
    slots.push_back(*slot);
    const auto left = work_left(plan, results);
    EXPECT_EQ(left.runs, (has_failed ? 10 : 9) - static_cast<int>(slots.size()) + 1);
    const bool fails = *slot == Slot{1, 0} && !std::exchange(has_failed, true);
    take(results, *slot, fails ? failed("the text changed") : measured(100));
  }
  ASSERT_EQ(slots.size(), 10u);
  EXPECT_EQ(std::vector<Slot>(slots.end() - 3, slots.end()),
            (std::vector<Slot>{{1, 0}, {1, 1}, {1, 2}}));
  EXPECT_EQ(results.size(), 9u);
  EXPECT_FALSE(states_at(plan, results, 3)[1].is_out());
}

// However far apart: nothing tells yet how far runs of the same settings lie apart.
TEST(SweepStates, NothingIsStoppedAfterOneRound) {
  const SweepPlan plan = made_up_plan({1, 100}, 3);
  const SweepResults results{{{0, 0}, measured(1)}, {{1, 0}, measured(100)}};
  EXPECT_EQ(states_at(plan, results, 1)[1].stopped_early, "");
}

TEST(SweepStates, WhatCannotWinIsStoppedAndSaysWhy) {
  SweepPlan plan = made_up_plan({100, 101, 200}, 6);
  std::mt19937_64 random(5);
  const auto results = made_up_results(plan, {.noise = 0.01, .drift = 0.1}, random);
  const auto states = states_at(plan, results, 6);
  EXPECT_THAT(states[2].stopped_early, HasSubstr("slower than bucket_cap_mb=100, at least"));
  EXPECT_THAT(states[2].stopped_early, HasSubstr("99 % confidence"));
  EXPECT_EQ(states[0].stopped_early, "");
  EXPECT_LT(results.size(), 18u);
  plan.stops_early = false;
  EXPECT_EQ(made_up_results(plan, {}, random).size(), 18u);
}

// The best fails in the end: what was stopped for its sake is run again.
TEST(SweepStates, NothingStaysStoppedForTheSakeOfAPointThatFailsLater) {
  const SweepPlan plan = made_up_plan({100, 200, 201}, 6);
  SweepResults results;
  while (const auto slot = next_slot(plan, results)) {
    const bool fails = slot->point == 0 && slot->round == 4;
    take(results, *slot,
         fails ? failed("killed")
               : measured(100. * (slot->point > 0 ? 2 : 1) + 0.5 * ((slot->round * 7) % 3)));
  }
  for (int round = 0; round < 6; ++round) EXPECT_TRUE(results.contains({1, round})) << round;
}

TEST(SweepStates, TheTrueBestIsStoppedInAtMostOneOfAHundredSweeps) {
  constexpr int kSweeps = 1000;
  int wrong = 0, stopped = 0;
  // Two equals, one that is a little slower and one that cannot win, on calm and noisy machines.
  const SweepPlan plan = made_up_plan({100, 100.01, 102, 130}, 5);
  for (const double noise : {0.005, 0.03}) {
    std::mt19937_64 random(11);
    for (int sweep = 0; sweep < kSweeps / 2; ++sweep) {
      const auto results = made_up_results(plan, {.noise = noise, .drift = 0.1}, random);
      const auto states = states_at(plan, results, plan.repeats);
      wrong += !states[0].stopped_early.empty();
      stopped += !states[3].stopped_early.empty();
    }
  }
  EXPECT_LE(wrong, kSweeps / 100);
  EXPECT_GT(stopped, kSweeps * 8 / 10) << "nothing is stopped that cannot win";
}

TEST(SweepGoal, IsStepTimeForTheSameWorkAndTokensElse) {
  SweepPlan plan = made_up_plan({1, 2}, 1);
  const SweepResults results{{{0, 0}, measured(100)}, {{1, 0}, measured(150)}};
  EXPECT_EQ(goal_of(plan, results), Goal::kStepTime);
  plan.points.settings[1].batch_per_rank = 64;
  EXPECT_EQ(goal_of(plan, results), Goal::kTokenRate);
  for (const Goal goal : kGoals) {
    plan.search = SearchPlan{.goal = goal};
    EXPECT_EQ(goal_of(plan, results) == Goal::kTokenRate, goal == Goal::kTokenRate)
        << to_string(goal);
  }
}

TEST(WorkLeft, IsWhatThePointsOwnRunsTook) {
  const SweepPlan plan = made_up_plan({1, 2}, 3);
  EXPECT_EQ(work_left(plan, {}).runs, 6);
  EXPECT_FALSE(work_left(plan, {}).seconds);
  SweepResults results{{{0, 0}, measured(100)}, {{1, 0}, measured(100)}};
  results[{1, 0}].measure->seconds = 30;
  const auto left = work_left(plan, results);
  EXPECT_EQ(left.runs, 4);
  EXPECT_DOUBLE_EQ(*left.seconds, 2 * 10 + 2 * 30);
  results[{1, 1}] = failed("killed");
  EXPECT_DOUBLE_EQ(*work_left(plan, results).seconds, 2 * 10 + 2 * 30) << "it is run once more";
  take(results, {1, 1}, failed("killed"));
  EXPECT_DOUBLE_EQ(*work_left(plan, results).seconds, 2 * 10);
}

}  // namespace
}  // namespace shardlens::app::sweep
