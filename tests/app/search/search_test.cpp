#include "app/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/app/search/made_up_search.h"

namespace shardlens::app::search {
namespace {

TEST(Search, BeginsWithWhereItStarts) {
  MadeUpSearch search({100, 90, 80});
  const auto decision = search.next();
  ASSERT_TRUE(decision.choice);
  EXPECT_EQ(decision.choice->slot, (sweep::Slot{0, 0}));
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
  ASSERT_TRUE(decision.choice->predicted);
  EXPECT_NEAR(decision.choice->predicted->cost, 70, 5);
  EXPECT_NEAR(decision.choice->predicted->half_width, 1.96 * 0.7, 1) << "95 % of it";
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
  search.usable = 10;
  search.peaks = {9, 11, 9};
  search.run_to_end();
  EXPECT_FALSE(search.results.contains({1, 0}));
  EXPECT_EQ(search.outcome().best, 2u);
}

// Estimates say that the other point takes more than there is, but no more than the start, which
// ran.
TEST(Search, TriesWhatNeedsNoMoreThanARunThatWentWell) {
  MadeUpSearch search({100, 50});
  search.predictions = [](const SourceRun&, std::size_t) {
    Forecast forecast{.cost = 50, .deviation = 1, .fits = false, .refused = ""};
    forecast.needs_no_more = true;
    return forecast;
  };
  search.run_to_end();
  EXPECT_TRUE(search.results.contains({1, 0}));
  EXPECT_EQ(search.outcome().best, 1u);
}

// A run whose tensors take 60 of 100 bytes, and its process 30 more beside them. Points say with
// their cap how many bytes the model's shape asks for.
struct ForecastMemory : testing::Test {
  sweep::SweepPlan plan;
  sweep::SlotResult start;

  ForecastMemory() {
    plan.search.emplace();
    for (const double bytes : {50.0, 40.0, 50.0, 90.0, 91.0}) {
      plan.points.settings.emplace_back().bucket_cap_mb = bytes;
    }
    start.measure.emplace().step_ns = 1;
    start.measure->peak_tensor_bytes = 60;
    start.measure->peak_memory_bytes = 90;
  }
  Forecast of(std::size_t point, UsableBytes usable) {
    RunForecasts forecasts(
        plan, {.learn_run = [](const auto&) -> trace::base::Result<sweep::PredictorOf> {
                 return trace::base::fail(trace::base::ErrorKind::kUsage, "no trace");
               },
               .shape_bytes =
                   [](const trace::job::Settings& settings) {
                     return std::optional(static_cast<std::int64_t>(settings.bucket_cap_mb));
                   },
               .usable_bytes = std::move(usable)});
    return forecasts({0, &start}, point);
  }
};

TEST_F(ForecastMemory, HoldsTensorsAgainstWhatTheyMayUse) {
  const auto usable = [](const auto&) { return std::int64_t{100}; };
  EXPECT_EQ(of(3, usable).fits, true) << "60 + 90 - 50";
  EXPECT_EQ(of(4, usable).fits, false);
  EXPECT_FALSE(of(3, usable).needs_no_more);
  const auto full = [](const auto&) { return std::int64_t{10}; };
  EXPECT_TRUE(of(1, full).needs_no_more) << "10 bytes less than what ran";
  EXPECT_TRUE(of(2, full).needs_no_more);
  const auto unknown = [](const auto&) { return std::int64_t{0}; };
  EXPECT_FALSE(of(4, unknown).fits);
}

TEST_F(ForecastMemory, IsWhatThePointsOwnRanksLeave) {
  const auto shared = [](const trace::job::Settings& settings) { return 200 / settings.ranks; };
  plan.points.settings[0].ranks = 2;
  plan.points.settings[1].ranks = plan.points.settings[2].ranks = 4;
  plan.points.settings[4].ranks = 1;
  EXPECT_EQ(of(1, shared).fits, true) << "60 - 10 of 50";
  EXPECT_FALSE(of(1, shared).needs_no_more) << "it has less, too";
  EXPECT_EQ(of(2, shared).fits, false) << "60 of 50";
  EXPECT_EQ(of(4, shared).fits, true) << "60 + 91 - 50 of 200";
}

// Of shapes all that is known is what full sequences take.
TEST_F(ForecastMemory, IsNotKnownByShapeWhereTextsWerePadded) {
  plan.search->goal = Goal::kMemory;
  EXPECT_EQ(of(1, {}).cost, 80) << "90 + 40 - 50";
  start.measure->is_padded = true;
  EXPECT_FALSE(of(1, {}).cost);
  EXPECT_FALSE(of(1, {}).refused.empty());
}

TEST_F(ForecastMemory, IsNeverLessThanNothing) {
  plan.search->goal = Goal::kMemory;
  plan.points.settings[0].bucket_cap_mb = 200;
  EXPECT_FALSE(of(1, {}).cost) << "90 + 40 - 200";
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

// The start was measured, and fails when it runs again: what was found so far still counts.
TEST(Search, KeepsWhatItFoundIfTheStartFailsLater) {
  MadeUpSearch search({100, 90, 60});
  search.run({0, 0});
  search.run({2, 0});
  search.fail({0, 1}, "out of memory");
  EXPECT_EQ(search.run_to_end(), Ending::kSettled);
  EXPECT_EQ(search.outcome().best, 2u);
  MadeUpSearch alone({100});
  alone.run({0, 0});
  alone.fail({0, 1}, "out of memory");
  EXPECT_EQ(alone.run_to_end(), Ending::kNoResult);
}

// The user deleted the first of the start's runs, of which the second is still there.
TEST(Search, RunsTheStartAgainInARoundThatIsFree) {
  MadeUpSearch search({100, 90, 80});
  search.is_refused = true;
  search.measure({0, 1}, 100);
  search.measure({1, 0}, 90);
  const auto decision = search.next();
  ASSERT_TRUE(decision.choice);
  EXPECT_EQ(decision.choice->slot, (sweep::Slot{0, 0}));
  EXPECT_EQ(decision.choice->why, Why::kConfirms);
}

// Nothing is predicted of a kind of points: one of them runs, and the others only if that was near.
TEST(Search, OfAKindThatCannotBePredictedRunsOneUnlessItIsNear) {
  for (const double level : {160.0, 101.0}) {
    MadeUpSearch search({100, 99, 98, level, level + 1, level + 2, level + 3});
    auto& points = search.plan.points;
    points.varied.push_back(trace::job::find_knob("sharding_strategy"));
    for (std::size_t i = 3; i < 7; ++i) {
      points.settings[i].sharding_strategy = trace::job::Strategy::kFullShard;
      points.settings[i].bucket_cap_mb = 1;
      points.settings[i].forward_prefetch = i % 2 == 0;
      points.settings[i].limit_all_gathers = i > 4;
    }
    points.varied.push_back(trace::job::find_knob("forward_prefetch"));
    points.varied.push_back(trace::job::find_knob("limit_all_gathers"));
    search.predictions = [&](const SourceRun& run, std::size_t point) {
      Forecast forecast;
      if (point >= 3 || run.point >= 3) {
        forecast.refused = "no such strategy";
      } else {
        forecast.cost = search.costs[point];
        forecast.deviation = 0.01 * search.costs[point];
      }
      return forecast;
    };
    search.run_to_end();
    int tried = 0;
    for (std::size_t i = 3; i < 7; ++i) tried += search.results.contains({i, 0}) ? 1 : 0;
    EXPECT_EQ(tried, level > 150 ? 1 : 4) << level;
  }
}

// The start was disturbed and took twice its time: runs since tell otherwise, and count.
TEST(Search, OneDisturbedRunDoesNotCountForAll) {
  MadeUpSearch search({100, 95, 90, 80});
  search.predictions = [&](const SourceRun& run, std::size_t point) {
    Forecast forecast;
    forecast.cost = run.result->measure->step_ns * search.costs[point] / search.costs[run.point];
    forecast.deviation = 0.02 * *forecast.cost;
    return forecast;
  };
  search.measure({0, 0}, 200);
  search.measure({1, 0}, 95);
  search.measure({2, 0}, 90);
  const auto beliefs = beliefs_of(search.plan, search.results, search.forecasts());
  EXPECT_NEAR(*beliefs[3].cost, 80, 1);
  EXPECT_LT(beliefs[3].deviation, 0.2 * 80);
}

// Each run takes 10 s. After each of three others, the start's second run among them, there is time
// to run one more and to confirm it: two more runs of it and one of the start.
TEST(Search, KeepsNoMoreOfItsBudgetThanToConfirmWhatItRunsNext) {
  MadeUpSearch search({100, 99, 98, 97, 96, 95, 94, 93});
  search.is_refused = true;
  search.noise = 0.0001;
  search.seconds_left = 80;
  EXPECT_EQ(search.run_to_end(), Ending::kNoTime);
  EXPECT_EQ(search.runs, 8) << "all that there was time for";
  const Outcome outcome = search.outcome();
  EXPECT_EQ(outcome.best, 3u);
  EXPECT_EQ(outcome.base_runs, kRounds);
  EXPECT_EQ(outcome.best_runs, kRounds - 1) << "the one that chose it is left out";
}

// However long it may take, if a run beside the start was made at all.
TEST(Search, ConfirmsWhatItFoundWhateverTheBudget) {
  for (double budget = 60; budget < 300; budget += 5) {
    MadeUpSearch search({100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 89, 88, 87, 86});
    search.is_refused = true;
    search.noise = 0.0001;
    search.seconds_left = budget;
    search.run_to_end();
    const Outcome outcome = search.outcome();
    ASSERT_NE(outcome.best, 0u) << budget;
    EXPECT_EQ(outcome.base_runs, kRounds) << budget;
    EXPECT_EQ(outcome.best_runs, kRounds - 1) << budget;
  }
}

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
  const auto beliefs = beliefs_of(search.plan, search.results, search.forecasts());
  EXPECT_GT(beliefs[2].deviation, 10 * 0.001 * 80);
}

// The first was run twice, the others once: rounds have nothing to do with drift.
TEST(Search, KnowsPointsByTheMeanOfTheirRunsAndHowSureThatIs) {
  MadeUpSearch search({100, 90, 300});
  search.measure({0, 0}, 99);
  search.measure({0, 1}, 101);
  search.measure({1, 0}, 90);
  search.results[{1, 0}].predicted = sweep::PredictedCost{92, 5};
  const auto beliefs = beliefs_of(search.plan, search.results, search.forecasts());
  EXPECT_DOUBLE_EQ(*beliefs[0].cost, 100);
  EXPECT_DOUBLE_EQ(*beliefs[1].cost, 90);
  EXPECT_EQ(beliefs[1].predicted, (sweep::PredictedCost{92, 5})) << "before it ran";
  // t of 95 % with one degree of freedom is 12.7, the spread √2 %: 18 % of one run.
  EXPECT_NEAR(*beliefs[1].half_width, 90 * 12.706 * 0.0141421, 0.1);
  EXPECT_NEAR(*beliefs[0].half_width, 100 * 12.706 * 0.01, 0.1);
  const auto is_behind = behind(search.plan, search.results, 1);
  EXPECT_FALSE(is_behind[1]) << "it is the best";
  EXPECT_EQ(is_behind[0], false) << "that is within noise";
  EXPECT_FALSE(is_behind[2]) << "it was not run";
  ASSERT_TRUE(beliefs[2].predicted);
  EXPECT_DOUBLE_EQ(beliefs[2].predicted->cost, *beliefs[2].cost) << "by all runs so far";
}

// Two runs of one point that lie far apart: ± is many times the mean.
TEST(Search, DoesNotKnowAnIntervalThatIsAsWideAsItsMean) {
  MadeUpSearch search({100, 90});
  search.measure({0, 0}, 523);
  search.measure({0, 1}, 1010);
  search.measure({1, 0}, 891);
  const auto beliefs = beliefs_of(search.plan, search.results, search.forecasts());
  EXPECT_DOUBLE_EQ(*beliefs[0].cost, 766.5);
  EXPECT_FALSE(beliefs[0].half_width);
  EXPECT_FALSE(beliefs[1].half_width);
}

TEST(Search, ListsTheBestFirstAndWhatWasNotRunLast) {
  MadeUpSearch search({100, 90, 60, 70, 95});
  search.off_by = 0.001;
  search.measure({0, 0}, 100);
  search.measure({1, 0}, 90);
  search.fail({4, 0}, "out of memory");
  const auto beliefs = beliefs_of(search.plan, search.results, search.forecasts());
  EXPECT_EQ(best_first(beliefs), (std::vector<std::size_t>{1, 0, 4, 2, 3}));
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
