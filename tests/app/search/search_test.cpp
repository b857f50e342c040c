#include "app/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/app/search/made_up_search.h"

namespace shardlens::app::search {
namespace {

TEST(Search, BeginsWithWhereItStarts) {
  MadeUpSearch search({100, 90, 80});
  search.job.base = 1;
  const auto decision = search.next();
  ASSERT_TRUE(decision.choice);
  EXPECT_EQ(decision.choice->slot, (sweep::Slot{1, 0}));
  EXPECT_EQ(decision.choice->why, Why::kStart);
}

TEST(Search, TriesThePointOfWhichMostIsPredicted) {
  MadeUpSearch search({100, 90, 70, 80});
  search.noise = search.off_by = 0.01;
  search.run({0, 0});
  const auto decision = search.next();
  ASSERT_TRUE(decision.choice);
  EXPECT_EQ(decision.choice->slot, (sweep::Slot{2, 0}));
  EXPECT_EQ(decision.choice->why, Why::kPromising);
  EXPECT_NEAR(*decision.choice->predicted, 70, 5);
}

// Nothing else can win: of four points two are run, and these three times each.
TEST(Search, ConfirmsTheBestAndTheStartInTurns) {
  MadeUpSearch search({100, 90, 70, 95});
  search.noise = search.off_by = 0.01;
  EXPECT_EQ(search.run_to_end(), Ending::kSettled);
  EXPECT_EQ(search.runs, 6);
  EXPECT_TRUE(search.results.contains({0, 2}));
  EXPECT_TRUE(search.results.contains({2, 2}));
  const Outcome outcome = search.outcome();
  EXPECT_EQ(outcome.best, 2u);
  EXPECT_TRUE(outcome.is_sure());
}

TEST(Search, StaysWhereItIsIfNothingIsBetter) {
  MadeUpSearch search({70, 90, 95, 100});
  EXPECT_EQ(search.run_to_end(), Ending::kSettled);
  EXPECT_EQ(search.runs, 1);
  EXPECT_EQ(search.outcome().best, 0u);
  EXPECT_FALSE(search.outcome().change);
}

TEST(Search, NeverTriesWhatDoesNotFit) {
  MadeUpSearch search({100, 50, 90});
  search.job.usable_bytes = 10;
  search.peaks = {9, 11, 9};
  search.run_to_end();
  EXPECT_FALSE(search.results.contains({1, 0}));
  EXPECT_EQ(search.outcome().best, 2u);
}

TEST(Search, GoesOnAfterAPointThatFails) {
  MadeUpSearch search({100, 50, 90});
  search.run({0, 0});
  search.fail({1, 0}, "out of memory");
  search.run_to_end();
  EXPECT_FALSE(search.results.contains({1, 1}));
  EXPECT_EQ(search.outcome().best, 2u);
}

TEST(Search, EndsWhereItCannotStart) {
  MadeUpSearch search({100, 90});
  search.fail({0, 0}, "no such model");
  EXPECT_EQ(search.run_to_end(), Ending::kNoResult);
  EXPECT_EQ(search.runs, 0);
}

// Each run takes 10 s; the last 40 are for confirming.
TEST(Search, KeepsToItsBudget) {
  for (double budget : {5.0, 25.0, 60.0, 75.0, 90.0}) {
    MadeUpSearch search({100, 99, 98, 97, 96, 95, 94, 93, 60});
    search.is_refused = true;
    search.seconds_left = budget;
    EXPECT_EQ(search.run_to_end(), Ending::kNoTime) << budget;
    EXPECT_LE(search.runs, std::max(1.0, budget / 10)) << "the start is always measured";
  }
}

TEST(Search, TriesAllThatNothingIsKnownOf) {
  MadeUpSearch search({100, 99, 98, 70, 96});
  search.is_refused = true;
  EXPECT_EQ(search.run_to_end(), Ending::kSettled);
  EXPECT_EQ(search.outcome().best, 3u);
  for (std::size_t point = 0; point < 5; ++point) {
    EXPECT_TRUE(search.results.contains({point, 0})) << point;
  }
}

// Predictions said they were sure to a thousandth and were off by a tenth: they are believed less.
TEST(Search, TrustsLessWhatWasWrong) {
  MadeUpSearch search({100, 90, 80});
  search.off_by = 0.001;
  search.errors = {0, 100, 100};
  search.run({0, 0});
  search.run({1, 0});
  const auto beliefs = beliefs_of(search.job, search.results, search.forecasts());
  EXPECT_GT(beliefs[2].deviation, 10 * 0.001 * 80);
}

// Of twelve points that are alike none is called better, but in as many searches as 95 % leave.
TEST(Search, ClaimsNoGainWhereThereIsNone) {
  constexpr int kGrids = 300;
  int claimed = 0;
  for (std::uint64_t seed = 0; seed < kGrids; ++seed) {
    MadeUpSearch search(std::vector<double>(12, 100.0), seed);
    search.run_to_end();
    claimed += search.outcome().is_sure() ? 1 : 0;
  }
  EXPECT_LE(claimed, kGrids * 5 / 100);
}

}  // namespace
}  // namespace shardlens::app::search
