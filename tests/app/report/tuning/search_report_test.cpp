#include "app/report/tuning/search_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/report/report_json.h"
#include "app/search/search_words.h"
#include "tests/app/search/made_up_search.h"
#include "trace/job/settings/settings.h"

namespace shardlens::app::report {
namespace {

using ::testing::HasSubstr;

// 100 ms at the start, 80 ms in the second of three points, three runs each.
SearchReport made_up_report() {
  static search::MadeUpSearch made({100e6, 80e6, 99e6});
  made.results.clear();
  for (int round : {0, 1, 2}) {
    made.measure({0, round}, (99 + round) * 1e6);
    made.measure({1, round}, (79 + round) * 1e6);
  }
  made.results[{1, 0}].predicted = sweep::PredictedCost{81e6, 2e6};
  made.plan.name = "caps";
  made.plan.search = sweep::SearchPlan{};
  return {
      .plan = made.plan,
      .results = made.results,
      .standing = {search::beliefs_of(made.plan, made.results, made.forecasts()), made.outcome()},
      .runs = {{{0, 0}, search::Why::kStart}, {{1, 0}, search::Why::kPromising}, {{2, 1}, {}}},
      .status = "done",
      .reason = "Ended."};
}

TEST(SearchReport, SaysWhatWasFoundAndHowSureThatIs) {
  const std::string text = search_text(made_up_report());
  EXPECT_THAT(text, HasSubstr("bucket_cap_mb=2: 80.5 ms instead of 100.0 ms, −19.5 % ±"));
  EXPECT_THAT(text, HasSubstr("Use it: --set bucket_cap_mb=2"));
  EXPECT_THAT(text, HasSubstr("may win"));
  EXPECT_THAT(text, HasSubstr("Not tried: bucket_cap_mb=3, predicted"));
}

TEST(SearchReport, QuotesForTheShellWhatItSaysToUse) {
  SearchReport report = made_up_report();
  sweep::SweepPlan plan = report.plan;
  plan.points.settings[1].record = "every 10th";
  plan.points.varied.push_back(trace::job::find_knob("record"));
  const SearchReport spaced{.plan = plan, .results = report.results, .standing = report.standing};
  EXPECT_THAT(search_text(spaced), HasSubstr("--set 'record=every 10th'"));
}

// The run by which it was chosen made it the best; further ones took longer than the start's.
TEST(SearchReport, RecommendsNothingThatFurtherRunsDoNotConfirm) {
  SearchReport report = made_up_report();
  report.standing.outcome->change = 0.042;
  report.standing.outcome->best_cost = 104.2e6;
  const std::string text = search_text(report);
  EXPECT_THAT(text, HasSubstr("of the start): no better than the start."));
  EXPECT_THAT(text, testing::Not(HasSubstr("--set")));
  EXPECT_EQ(search_json(report)["apply"], "") << "nothing";
  report.standing.outcome->change = -0.01;
  report.standing.outcome->half_width = 0.02;
  EXPECT_THAT(search_text(report), HasSubstr("not sure: --set bucket_cap_mb=2"));
}

// Of runs that an earlier command made it is not known why, but for the start's.
TEST(SearchReport, NamesTheStartWhoeverRanIt) {
  SearchReport report = made_up_report();
  report.runs = {{{0, 0}, {}}, {{1, 0}, {}}};
  EXPECT_THAT(search_text(report), HasSubstr("the start\n"));
  EXPECT_THAT(search_text(report), HasSubstr("of an earlier start"));
}

// The start ran first, and is second best.
TEST(SearchReport, ListsWhatWasRunFromTheBestDownWithMeansAndRuns) {
  const std::string text = search_text(made_up_report());
  const auto best = text.find("bucket_cap_mb=2 "), start = text.find("bucket_cap_mb=1 ");
  ASSERT_NE(best, std::string::npos);
  ASSERT_NE(start, std::string::npos);
  EXPECT_LT(best, start);
  EXPECT_THAT(text, HasSubstr("81.0 ± 2.00 ms"));
  EXPECT_THAT(text, HasSubstr("80.0 ± "));
  EXPECT_THAT(text, HasSubstr("79.0 ms, 80.0 ms, 81.0 ms"));
  EXPECT_THAT(text, HasSubstr("99.0 ms, 100.0 ms, 101.0 ms"));
}

TEST(SearchReport, SaysOfAPredictionThatIsNotSureThatItIsNot) {
  SearchReport report = made_up_report();
  auto& belief = report.standing.beliefs[2];
  belief.predicted = sweep::PredictedCost{542.4e6, 61.3e6};
  EXPECT_THAT(search_text(report), HasSubstr("predicted 542.4 ± 61.3 ms, which is not likely"));
  belief.predicted = sweep::PredictedCost{542.4e6, 612.9e6};
  belief.chance = 0.5;
  EXPECT_THAT(
      search_text(report),
      HasSubstr("predicted 542.4 (0 to 1,155) ms (not sure enough to go by), the search ended"));
}

// Rates rise while what each token takes falls.
TEST(SearchReport, OfTokensPerSecondSaysWhatItIsThatFalls) {
  SearchReport report = made_up_report();
  sweep::SweepPlan plan = report.plan;
  plan.search->goal = search::Goal::kTokenRate;
  search::Outcome& outcome = *report.standing.outcome;
  outcome.base_cost = 1e6;
  outcome.best_cost = 1e6 / 1.2;
  outcome.change = 1 / 1.2 - 1;
  outcome.half_width = 0.01;
  const SearchReport rates{.plan = plan, .results = report.results, .standing = report.standing};
  EXPECT_THAT(search_text(rates), HasSubstr("1.20 k tokens/s instead of 1.00 k tokens/s, −16.7 % ± "
                                            "1.0 % of the time per token (95 %"));
  EXPECT_EQ(search_json(rates)["change_of"], "time_per_token");
  EXPECT_TRUE(search_json(rates)["gain_ms"]["mean"].is_null()) << "nor is it of a step";
  EXPECT_EQ(search_json(report)["change_of"], "time_per_step");
}

TEST(SearchReport, SaysNoIntervalThatIsWiderThanAllOfIt) {
  SearchReport report = made_up_report();
  report.standing.outcome->half_width = 6.13;
  EXPECT_THAT(search_text(report), HasSubstr("too far apart to tell how sure that is"));
  EXPECT_THAT(search_text(report), testing::Not(HasSubstr("613")));
}

TEST(SearchReport, GivesAnEstimateInOneUnit) {
  EXPECT_EQ(search::estimate_text(1.2e9, 2e7, search::Goal::kStepTime), "1.20 ± 0.02 s");
  constexpr double kGiB = 1 << 30;
  EXPECT_EQ(search::estimate_text(1.5 * kGiB, 0.25 * kGiB, search::Goal::kMemory),
            "1.50 ± 0.25 GiB");
  EXPECT_EQ(search::estimate_text(1e9 / 8000.0, 1e8 / 8000.0, search::Goal::kTokenRate),
            "8.00 ± 0.80 k tokens/s");
}

// Each place says itself how to go on.
TEST(SearchReport, SaysWhyASearchEndedInWordsThatAreTrueAnywhere) {
  using search::Ending;
  const std::string no_time = search::ending_text(Ending::kNoTime);
  EXPECT_THAT(no_time, HasSubstr("another run and those that confirm it"));
  EXPECT_THAT(no_time, testing::Not(HasSubstr("--")));
  EXPECT_EQ(search::ending_text(std::string(to_string(Ending::kNoTime))), no_time);
  EXPECT_EQ(search::ending_text(std::string()), "");
  EXPECT_EQ(search::ending_text(std::string("Ended, as of old.")), "Ended, as of old.");
}

TEST(SearchReport, SaysWhyTheStartCouldNotBeMeasured) {
  SearchReport report = made_up_report();
  sweep::SweepResults results;
  results[{sweep::kSearchStart, 0}].failure = "rank 1 ran out of memory";
  const SearchReport failed{.plan = report.plan, .results = results};
  const std::string why = "could not be measured: rank 1 ran out of memory.";
  EXPECT_THAT(search_text(failed), HasSubstr(why));
  EXPECT_THAT(search_json(failed)["verdict"].get<std::string>(), HasSubstr(why));
}

TEST(SearchReport, IsTheContractAsJson) {
  const Json json = search_json(made_up_report());
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["unit"], "ms");
  EXPECT_EQ(json["start"]["settings"]["bucket_cap_mb"], 1);
  EXPECT_DOUBLE_EQ(json["start"]["value"], 100);
  EXPECT_DOUBLE_EQ(json["best"]["value"], 80.5) << "of the runs that the change is of";
  EXPECT_NEAR(json["change_percent"]["mean"].get<double>(), -19.5, 1e-9) << "80 and 81 of 100";
  EXPECT_LT(json["change_percent"]["low"], json["change_percent"]["mean"]);
  EXPECT_EQ(json["is_sure"], true);
  EXPECT_EQ(json["apply"], "--set bucket_cap_mb=2");
  ASSERT_EQ(json["runs"].size(), 3u);
  EXPECT_TRUE(json["runs"][0]["predicted"].is_null());
  EXPECT_DOUBLE_EQ(json["runs"][1]["predicted"], 81);
  EXPECT_DOUBLE_EQ(json["runs"][1]["measured"], 79);
  EXPECT_TRUE(json["runs"][2]["measured"].is_null()) << "unknown is null";
  EXPECT_TRUE(json["runs"][2]["why"].is_null());
  ASSERT_EQ(json["not_tried"].size(), 1u);
  EXPECT_EQ(json["not_tried"][0]["settings"]["bucket_cap_mb"], 3);
  EXPECT_DOUBLE_EQ(json["best"]["step_ms"], 80.5);
  EXPECT_NEAR(json["gain_ms"]["mean"].get<double>(), 19.5, 1e-9);
  EXPECT_LT(json["gain_ms"]["low"], json["gain_ms"]["mean"]);
  EXPECT_EQ(json["stopped_because"], "Ended.");
  ASSERT_EQ(json["tried"].size(), 2u);
  const Json& best = json["tried"][0];
  EXPECT_EQ(best["settings"]["bucket_cap_mb"], 2);
  EXPECT_EQ(best["runs"].size(), 3u);
  EXPECT_DOUBLE_EQ(best["step_ms"]["mean"], 80) << "of all its runs";
  EXPECT_LT(best["step_ms"]["high"], json["tried"][1]["step_ms"]["low"]);
  EXPECT_DOUBLE_EQ(best["predicted_ms"]["mean"], 81);
  EXPECT_DOUBLE_EQ(best["predicted_ms"]["low"], 79);
  EXPECT_EQ(best["stopped_early"], false);
  EXPECT_TRUE(json["tried"][1]["predicted_ms"].is_null());
}

TEST(SearchReport, HasNoIntervalInJsonOfAPredictionThatIsNotSure) {
  SearchReport report = made_up_report();
  report.standing.beliefs[1].predicted = sweep::PredictedCost{81e6, 90e6};
  const Json predicted = search_json(report)["tried"][0]["predicted_ms"];
  EXPECT_DOUBLE_EQ(predicted["mean"], 81);
  EXPECT_TRUE(predicted["low"].is_null()) << "it would begin below 0";
  EXPECT_TRUE(predicted["high"].is_null());
}

TEST(SearchReport, OfNothingBetterSaysSo) {
  SearchReport report = made_up_report();
  report.standing.outcome = search::Outcome{};
  report.standing.outcome->base_cost = report.standing.outcome->best_cost = 100e6;
  EXPECT_THAT(search_text(report), HasSubstr("Only the settings that it started from were meas"));
  report.standing.outcome->others = 1;
  EXPECT_THAT(search_text(report), HasSubstr("Nothing better was found"));
  EXPECT_TRUE(search_json(report)["change_percent"]["mean"].is_null());
  report.standing.outcome.reset();
  EXPECT_THAT(search_text(report), HasSubstr("could not be measured"));
  EXPECT_TRUE(search_json(report)["best"].is_null());
}

}  // namespace
}  // namespace shardlens::app::report
