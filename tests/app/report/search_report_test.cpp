#include "app/report/tuning/search_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/search/search_words.h"
#include "tests/app/search/made_up_search.h"

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
  made.plan.name = "caps";
  made.plan.search = sweep::SearchPlan{};
  return {.plan = made.plan,
          .results = made.results,
          .standing = {made.job, search::beliefs_of(made.job, made.results, made.forecasts()),
                       made.outcome()},
          .runs = {{{0, 0}, search::Why::kStart, {}},
                   {{1, 0}, search::Why::kPromising, 81e6},
                   {{2, 1}, {}, {}}},
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
}

TEST(SearchReport, OfNothingBetterSaysSo) {
  SearchReport report = made_up_report();
  report.standing.outcome = search::Outcome{};
  report.standing.outcome->base_cost = report.standing.outcome->best_cost = 100e6;
  EXPECT_THAT(search_text(report), HasSubstr("Nothing better was found"));
  EXPECT_TRUE(search_json(report)["change_percent"]["mean"].is_null());
  report.standing.outcome.reset();
  EXPECT_THAT(search_text(report), HasSubstr("could not be measured"));
  EXPECT_TRUE(search_json(report)["best"].is_null());
}

}  // namespace
}  // namespace shardlens::app::report
