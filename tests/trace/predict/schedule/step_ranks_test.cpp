#include "trace/predict/schedule/step_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

namespace shardlens::trace::predict {
namespace {

RankWork rank_that_computes(double ns, std::int64_t start_ns = 0) {
  RankWork rank{.start_ns = start_ns};
  rank.micro_batches.emplace_back().end = {static_cast<std::int64_t>(ns * 0.75), 0};
  rank.optimizer_ns = static_cast<std::int64_t>(ns * 0.25);
  return rank;
}

double computes_ns(const StepRank& rank) {
  const auto in_optimizer = static_cast<double>(rank.work->optimizer_ns);
  return rank.pace *
         (static_cast<double>(rank.work->micro_batches.front().end.computed_ns) + in_optimizer);
}

// Of which each rank takes 1 ms, longer or shorter by what slows the step and by its own.
std::vector<StepWork> steps_of(std::size_t ranks, double shared, double own) {
  std::mt19937 random(7);
  std::normal_distribution<double> draw;
  std::vector<StepWork> steps(4000);
  for (StepWork& step : steps) {
    const double of_step = 1e6 * (1 + shared * draw(random));
    for (std::size_t i = 0; i < ranks; ++i) {
      step.ranks.push_back(rank_that_computes(of_step + 1e6 * own * draw(random)));
    }
  }
  return steps;
}

double slowest_ns(const std::vector<StepRank>& ranks) {
  return computes_ns(*std::ranges::max_element(ranks, {}, computes_ns));
}

// Mean over steps of what the slowest of so many ranks takes.
double mean_slowest_ns(const std::vector<StepWork>& steps, std::size_t ranks) {
  const StepSpread spread = step_spread(steps);
  double sum = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    sum += slowest_ns(ranks_of_step(steps, spread, i, ranks));
  }
  return sum / static_cast<double>(steps.size());
}

std::vector<StepWork> first_two_of(std::vector<StepWork> steps) {
  for (StepWork& step : steps) step.ranks.resize(2);
  return steps;
}

// Whatever makes ranks slower, more of them than were recorded wait as long for their slowest as
// they do where all of them are recorded.
TEST(StepRanks, RanksThatWereNotRecordedLieAsFarApartAsRecordedOnes) {
  for (const auto& [shared, own] :
       {std::pair{0.0, 0.1}, {0.1, 0.0}, {0.1, 0.05}, {0.05, 0.1}, {0.1, 0.01}}) {
    for (const std::size_t ranks : {3, 4, 6}) {
      const auto all = steps_of(ranks, shared, own);
      const auto recorded = first_two_of(all);
      const double of_two = mean_slowest_ns(recorded, 2);
      const double more = mean_slowest_ns(all, ranks) - of_two;
      EXPECT_NEAR(mean_slowest_ns(recorded, ranks) - of_two, more, 0.07 * more + 500)
          << ranks << " ranks, shared " << shared << ", own " << own;
    }
  }
}

// Rank 1 always computes a tenth longer, and so do those that are like it.
TEST(StepRanks, WhatSlowsOneRankInAllStepsIsNoSpread) {
  std::vector<StepWork> steps(10);
  for (StepWork& step : steps) step.ranks = {rank_that_computes(1e6), rank_that_computes(1.1e6)};
  const auto found = ranks_of_step(steps, step_spread(steps), 3, 4);
  EXPECT_NEAR(computes_ns(found[2]), 1e6, 1);
  EXPECT_NEAR(computes_ns(found[3]), 1.1e6, 1);
}

TEST(StepRanks, RecordedOnesDoWhatTheyDid) {
  const auto steps = steps_of(3, 0.1, 0.1);
  const StepSpread spread = step_spread(steps);
  for (const std::size_t ranks : {1, 2, 3, 5}) {
    const auto found = ranks_of_step(steps, spread, 17, ranks);
    ASSERT_EQ(found.size(), ranks);
    for (std::size_t i = 0; i < std::min<std::size_t>(ranks, 3); ++i) {
      EXPECT_EQ(found[i].work, &steps[17].ranks[i]);
      EXPECT_EQ(found[i].start_ns, 0);
      EXPECT_EQ(found[i].pace, 1);
    }
    for (std::size_t i = 3; i < ranks; ++i) EXPECT_NE(found[i].work, &steps[17].ranks[i % 3]);
  }
}

// In the first step rank 1 begins 10 ns behind rank 0, in the second 30: 10 ns either side of their
// mean, and 5 less or more, which are sqrt(8 / 3) times as much of two ranks that no mean holds.
TEST(StepRanks, BeginAsFarApartAsInTheStepThatTheyAreFrom) {
  std::vector<StepWork> steps(2);
  steps[0].ranks = {rank_that_computes(100, 1000), rank_that_computes(100, 1010)};
  steps[1].ranks = {rank_that_computes(100, 2000), rank_that_computes(100, 2030)};
  const auto found = ranks_of_step(steps, step_spread(steps), 0, 4);
  EXPECT_EQ(found[2].work, &steps[1].ranks[0]);
  EXPECT_EQ(found[2].start_ns, 1005 - 18);
  EXPECT_EQ(found[3].start_ns, 1005 + 18);
}

TEST(StepRanks, OfOneRankNothingTellsWhatSlowsAllAlike) {
  const auto steps = steps_of(1, 0.1, 0);
  EXPECT_EQ(step_spread(steps).shared, 0);
  EXPECT_EQ(ranks_of_step(steps, step_spread(steps), 5, 2)[1].pace, 1);
  EXPECT_EQ(step_spread({}).mean_ns, 0);
}

}  // namespace
}  // namespace shardlens::trace::predict
