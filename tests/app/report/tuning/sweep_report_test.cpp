#include "app/report/tuning/sweep_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "app/report/report_json.h"
#include "tests/app/sweep/made_up_sweep.h"

namespace shardlens::app::report {
namespace {

using sweep::failed;
using sweep::measured;
using testing::HasSubstr;

SweepReport report_of(sweep::SweepPlan plan, const sweep::SweepResults& results) {
  SweepReport report;
  report.plan = std::move(plan);
  report.status = "done";
  report.verdict = sweep::verdict_of(report.plan, results);
  report.predictions.points.resize(report.plan.points.settings.size(),
                                   {.reason = "no run was measured so far"});
  report.banners = {"CPU run: shows how it works, not how fast a GPU is"};
  return report;
}

SweepReport three_points() {
  auto plan = sweep::made_up_plan({1, 4, 25}, 2);
  return report_of(std::move(plan), {{{0, 0}, measured(200, "a")},
                                     {{0, 1}, measured(210, "b")},
                                     {{1, 0}, measured(100, "c")},
                                     {{1, 1}, measured(104, "d")},
                                     {{2, 0}, failed("rank 1 was killed")}});
}

TEST(SweepReport, JsonIsTheContract) {
  const Json json = sweep_json(three_points());
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["status"], "done");
  EXPECT_EQ(json["reason"], nullptr);
  EXPECT_EQ(json["varied"], Json({"bucket_cap_mb"}));
  ASSERT_EQ(json["points"].size(), 3u);
  const Json &slow = json["points"][0], &best = json["points"][1], &bad = json["points"][2];
  EXPECT_EQ(slow["settings"], Json({{"bucket_cap_mb", 1.0}}));
  EXPECT_EQ(slow["runs"], Json({"a", "b"}));
  EXPECT_NEAR(slow["step_ms"]["mean"], std::sqrt(200 * 210.), 1e-6);
  EXPECT_DOUBLE_EQ(slow["exposed_ms"], 20.5);
  EXPECT_LT(slow["step_ms"]["low"], 205);
  EXPECT_GT(slow["step_ms"]["high"], 205);
  EXPECT_EQ(slow["peak_memory_bytes"], 1'000'000'000);
  EXPECT_EQ(slow["peak_tensor_bytes"], 50'000'000);
  EXPECT_EQ(slow["on_front"], false);
  EXPECT_EQ(best["on_front"], true);
  EXPECT_EQ(slow["predicted_ms"], nullptr);
  EXPECT_EQ(slow["stopped_early"], false);
  EXPECT_NEAR(slow["slower_percent"]["mean"], 101, 1);
  EXPECT_EQ(best["verdict"], "best");
  EXPECT_EQ(bad["verdict"], "failed");
  EXPECT_EQ(bad["reason"], "rank 1 was killed (it is run once more in the end)");
  EXPECT_EQ(bad["step_ms"]["mean"], nullptr);
  EXPECT_EQ(bad["peak_memory_bytes"], nullptr);
  EXPECT_EQ(bad["slower_percent"]["mean"], nullptr);
  EXPECT_EQ(json["best"]["settings"], Json({{"bucket_cap_mb", 4.0}}));
  EXPECT_THAT(json["best"]["why"].get<std::string>(), HasSubstr("bucket_cap_mb=4"));
  EXPECT_FALSE(json["settings"].contains("bucket_cap_mb"));
  EXPECT_TRUE(json["settings"].contains("ranks"));
  EXPECT_EQ(json["judged_by"], "step_ms");
}

TEST(SweepReport, OfNothingEverythingIsNull) {
  const Json json = sweep_json(report_of(sweep::made_up_plan({1, 4}, 2), {}));
  EXPECT_EQ(json["best"], nullptr);
  EXPECT_EQ(json["noise"]["between_runs"], nullptr);
  for (const Json& point : json["points"]) {
    EXPECT_EQ(point["verdict"], "not_run");
    EXPECT_EQ(point["step_ms"]["mean"], nullptr);
    EXPECT_EQ(point["runs"], Json::array());
  }
}

TEST(SweepReport, PredictionsStandBesideWhatWasMeasured) {
  auto report = three_points();
  EXPECT_EQ(sweep_json(report)["predicted_from"], nullptr);
  EXPECT_EQ(sweep_json(report)["points"][2]["not_predicted"], "no run was measured so far");
  EXPECT_THAT(sweep_text(report),
              HasSubstr("Not predicted: bucket_cap_mb=1 and 2 more: no run was measured so far\n"));
  report.predictions.from = "caps, cap 4, run 1";
  report.predictions.points = {{.step_ns = 198e6, .interval = {{190e6, 206e6}}},
                               {.reason = "the other points are predicted from a run of this one"},
                               {.step_ns = 301e6}};
  const Json json = sweep_json(report);
  EXPECT_EQ(json["predicted_from"], "caps, cap 4, run 1");
  const Json& first = json["points"][0]["predicted_ms"];
  EXPECT_DOUBLE_EQ(first["mean"], 198);
  EXPECT_DOUBLE_EQ(first["low"], 190);
  EXPECT_DOUBLE_EQ(first["high"], 206);
  EXPECT_EQ(json["points"][0]["not_predicted"], nullptr);
  EXPECT_EQ(json["points"][1]["predicted_ms"], nullptr);
  EXPECT_THAT(json["points"][1]["not_predicted"].get<std::string>(), HasSubstr("this one"));
  EXPECT_DOUBLE_EQ(json["points"][2]["predicted_ms"]["mean"], 301) << "of a point that failed, too";
  EXPECT_EQ(json["points"][2]["predicted_ms"]["low"], nullptr);
  const std::string text = sweep_text(report);
  EXPECT_THAT(text, HasSubstr("predicted"));
  EXPECT_THAT(text, HasSubstr("198.0 ms"));
  EXPECT_THAT(text, HasSubstr("Predicted from the run \"caps, cap 4, run 1\" alone\n"));
}

TEST(SweepReport, TextHasALineForEachPointAndWhatIsBest) {
  const std::string text = sweep_text(three_points());
  EXPECT_THAT(text, HasSubstr("caps · done · 3 points, 2 times each\nCPU run"));
  EXPECT_THAT(text, HasSubstr("bucket_cap_mb"));
  EXPECT_THAT(text, HasSubstr("102.0 ms"));
  EXPECT_THAT(text, HasSubstr("failed\n"));
  EXPECT_THAT(text,
              HasSubstr("bucket_cap_mb=25 failed: rank 1 was killed (it is run once more in the "
                        "end)\n"));
}

TEST(SweepReport, TextSaysOfAPointOnlyWhatItsStrategyObeys) {
  SweepReport report = three_points();
  auto& points = report.plan.points;
  points.varied.insert(points.varied.begin(), trace::job::find_knob("sharding_strategy"));
  points.settings[1].sharding_strategy = trace::job::Strategy::kFullShard;
  const std::string text = sweep_text(report);
  const auto row = text.substr(text.find("  full_shard "));
  EXPECT_THAT(row.substr(0, row.find(" ms")), testing::Not(HasSubstr(" 4 ")));
  EXPECT_THAT(text, HasSubstr("  ddp "));
}

TEST(SweepReport, TextSaysWhatWasStoppedAndWhy) {
  auto plan = sweep::made_up_plan({100, 101, 200}, 6);
  std::mt19937_64 random(5);
  const auto results = sweep::made_up_results(plan, {}, random);
  const auto report = report_of(plan, results);
  EXPECT_THAT(sweep_text(report), HasSubstr("slower, stopped early"));
  EXPECT_THAT(sweep_text(report), HasSubstr("bucket_cap_mb=200 was stopped after "));
  EXPECT_EQ(sweep_json(report)["points"][2]["stopped_early"], true);
}

}  // namespace
}  // namespace shardlens::app::report
