#include <gtest/gtest.h>

#include "app/search/search.h"
#include "tests/app/search/made_up_search.h"

namespace shardlens::app::search {
namespace {

// 80 for which it was chosen does not count: 90 and 92 against 99, 100 and 101.
TEST(SearchOutcome, LeavesOutTheRunThatChoseTheBest) {
  MadeUpSearch search({100, 90});
  for (int round : {0, 1, 2}) search.measure({0, round}, 99 + round);
  search.measure({1, 0}, 80);
  search.measure({1, 1}, 90);
  search.measure({1, 2}, 92);
  const Outcome outcome = search.outcome();
  EXPECT_EQ(outcome.best, 1u);
  EXPECT_DOUBLE_EQ(*outcome.base_cost, 100);
  EXPECT_NEAR(*outcome.change, 91.0 / 100 - 1, 1e-12);
  EXPECT_DOUBLE_EQ(*outcome.best_cost, 91) << "what is shown is what the change is of";
  EXPECT_EQ(outcome.best_runs, 2);
  EXPECT_TRUE(outcome.leaves_choice_out);
  EXPECT_EQ(outcome.base_runs, 3);
  ASSERT_TRUE(outcome.half_width);
  EXPECT_GT(*outcome.half_width, 0.09) << "80, 90 and 92 lie far apart";
  EXPECT_FALSE(outcome.is_sure());
}

// 80 for which it was chosen made its mean the lowest; 110 and 108 say otherwise.
TEST(SearchOutcome, IsNotTakenOverWhereFurtherRunsDoNotConfirmIt) {
  MadeUpSearch search({100, 90});
  for (int round : {0, 1, 2}) search.measure({0, round}, 99 + round);
  search.measure({1, 0}, 80);
  search.measure({1, 1}, 110);
  search.measure({1, 2}, 108);
  const Outcome outcome = search.outcome();
  EXPECT_EQ(outcome.best, 1u);
  EXPECT_NEAR(*outcome.change, 0.09, 1e-12);
  EXPECT_FALSE(outcome.is_better());
  EXPECT_EQ(outcome.chosen(), sweep::kSearchStart);
}

TEST(SearchOutcome, OfOneRunEachIsNotSure) {
  MadeUpSearch search({100, 90});
  search.measure({0, 0}, 100);
  search.measure({1, 0}, 50);
  const Outcome outcome = search.outcome();
  EXPECT_NEAR(*outcome.change, -0.5, 1e-12);
  EXPECT_FALSE(outcome.half_width);
  EXPECT_FALSE(outcome.leaves_choice_out) << "there are no others";
  EXPECT_FALSE(outcome.is_sure());
}

TEST(SearchOutcome, CountsWhatWasMeasuredBesideTheStart) {
  MadeUpSearch search({100, 90, 110});
  search.measure({0, 0}, 100);
  EXPECT_EQ(search.outcome().others, 0);
  search.measure({2, 0}, 110);
  EXPECT_EQ(search.outcome().others, 1);
  EXPECT_FALSE(search.outcome().change);
}

TEST(SearchOutcome, IsNoneWithoutAStart) {
  MadeUpSearch search({100, 90});
  EXPECT_FALSE(outcome_of(search.plan, search.results,
                          beliefs_of(search.plan, search.results, search.forecasts())));
}

}  // namespace
}  // namespace shardlens::app::search
