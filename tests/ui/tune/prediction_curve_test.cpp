// The curve behind a slider: the runs measured along it, and the value that it calls best.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/ui/tune/prediction_fixture.h"
#include "trace/tuning/knob_curve.h"
#include "ui/present/format.h"
#include "ui/present/tune/knob_chart.h"

namespace shardlens::ui::tune {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using trace::tuning::Interval;

TEST_F(PredictionTest, OneClickGoesToTheBestValue) {
  texts();
  ASSERT_TRUE(window_.click(snapshot_, "best/bucket_cap_mb"));
  const auto set = window_.take<state::SetKnob>();
  ASSERT_TRUE(set);
  EXPECT_EQ(set->name, "bucket_cap_mb");
  EXPECT_EQ(set->text, "2");
}

TEST_F(PredictionTest, MeasuredRunsLieOnTheCurveTheyAreOf) {
  state::Ledger ledger;
  state::LedgerRow row;
  row.settings = snapshot_.knobs.next;
  row.ranks = static_cast<int>(row.settings.ranks);
  row.ordinal = "run 7";
  row.summary.step_ns.count = 20;
  row.summary.step_ns.mean = 121 * kMs;
  row.settings.bucket_cap_mb = 2;
  ledger.rows.push_back(row);
  row.settings.batch_per_rank += 1;  // another job
  ledger.rows.push_back(row);
  ledger.rows.back().is_shown = ledger.rows.back().is_baseline = true;
  row.settings = ledger.rows.front().settings;
  row.settings.steps += 7;  // which makes no step longer
  row.not_compared = "other machine";
  ledger.rows.push_back(row);
  snapshot_.ledger = std::make_shared<const state::Ledger>(ledger);
  publish();
  const auto chart = present::knob_chart(snapshot_, cap_knob());
  ASSERT_TRUE(chart);
  ASSERT_EQ(chart->measured.size(), 1u);
  EXPECT_EQ(chart->measured[0].run, "run 7");
  EXPECT_FLOAT_EQ(chart->measured[0].x, chart->points[1].x);
  // From 117 ms, the lowest of an interval, to 132 ms, with a margin of 8 % of that on either side.
  EXPECT_NEAR(chart->measured[0].y, (4 + 0.08 * 15) / (15 * 1.16), 1e-4);
  EXPECT_NEAR(chart->points[1].low, 0.08 / 1.16, 1e-4);
  EXPECT_NEAR(chart->points[2].high, 1.08 / 1.16, 1e-4);
  EXPECT_EQ(chart->points[0].low, chart->points[0].y) << "as it is";
  EXPECT_EQ(chart->points[1].difference, "−5.0 ms ± 3.0");
}

// Of the run on screen the ledger says that it is of another machine than the baseline, of which
// the others are.
TEST_F(PredictionTest, RunsOfAnotherMachineThanTheOneOnScreenAreNotOnItsCurve) {
  state::Ledger ledger;
  state::LedgerRow own;
  own.settings = snapshot_.knobs.next;
  own.ranks = static_cast<int>(own.settings.ranks);
  own.ordinal = "run 5";
  own.summary.step_ns.count = 20;
  own.summary.step_ns.mean = 1163 * kMs;
  own.is_baseline = true;
  state::LedgerRow shown = own;
  shown.ordinal = "example 2";
  shown.summary.step_ns.mean = 125 * kMs;
  shown.is_baseline = false;
  shown.is_shown = true;
  const auto measured = [&](const char* not_compared) {
    shown.not_compared = not_compared;
    ledger.rows = {own, shown};
    snapshot_.ledger = std::make_shared<const state::Ledger>(ledger);
    publish();
    std::vector<std::string> runs;
    const auto chart = present::knob_chart(snapshot_, cap_knob());
    if (!chart) return runs;
    for (const auto& run : chart->measured) runs.push_back(run.run);
    return runs;
  };
  EXPECT_THAT(measured(""), ::testing::ElementsAre("run 5", "example 2"));
  EXPECT_THAT(measured("other machine"), ::testing::ElementsAre("example 2"));
  own.is_baseline = false;
  EXPECT_THAT(measured(""), ::testing::ElementsAre("example 2")) << "nothing was compared";
}

// By 11 ms ± 31 nobody is surely faster.
TEST_F(PredictionTest, OnlyWhatIsSurelyFasterIsCalledBest) {
  const auto chart_with = [&](std::vector<trace::tuning::CurvePoint> points, double cap) {
    view_.curves.front().points = std::move(points);
    snapshot_.knobs.next.bucket_cap_mb = cap;
    publish();
    return *present::knob_chart(snapshot_, cap_knob());
  };
  const auto noise = [](double cap, double more) {
    return trace::tuning::CurvePoint{present::format_plain(cap), cap, (125 + more) * kMs,
                                     Interval{(more - 31) * kMs, (more + 31) * kMs}, true};
  };
  const trace::tuning::CurvePoint recorded{"1", 1, 125 * kMs, std::nullopt, true};
  auto chart = chart_with({recorded, noise(8.9, -11), noise(62, 4)}, 1);
  EXPECT_FALSE(chart.best);
  EXPECT_EQ(chart.why_no_best, "no clear difference");
  EXPECT_THAT(texts(), Contains("no clear difference"));
  chart = chart_with({recorded, noise(8.9, -11), noise(62, 40)}, 1);
  EXPECT_FALSE(chart.best);
  EXPECT_EQ(chart.why_no_best, "none surely faster") << "62 is surely slower";
  chart = chart_with({recorded, noise(8.9, -40), noise(62, 4)}, 1);
  EXPECT_EQ(chart.best, 1u);
  EXPECT_EQ(chart.why_no_best, "");
  chart = chart_with(
      {recorded, noise(8.9, -40), {"16", 16, 110 * kMs, Interval{-16 * kMs, -14 * kMs}, true}}, 1);
  EXPECT_EQ(chart.best, 2u) << "surely 14 ms, not 9";
  chart = chart_with(
      {recorded, noise(8.9, -30), {"16", 16, 110 * kMs, Interval{-16 * kMs, -14 * kMs}, true}}, 1);
  EXPECT_EQ(chart.best, 2u) << "the other may be chance";
  // 4 is no point of this curve: 130 ms, as the prediction says, of which 122 lie beyond.
  view_.prediction->recorded_step_ns = 125 * kMs;
  view_.prediction->step_ns = 130 * kMs;
  view_.prediction->difference = Interval{3 * kMs, 7 * kMs};
  EXPECT_EQ(chart_with({recorded, noise(8.9, -11), noise(62, 4)}, 4).best, 0u) << "as measured";
  view_.prediction->difference = Interval{-3 * kMs, 13 * kMs};
  EXPECT_FALSE(chart_with({recorded, noise(8.9, -11), noise(62, 4)}, 4).best);
  EXPECT_EQ(chart_with({recorded, noise(8.9, -32), noise(62, 4)}, 4).best, 1u);
  EXPECT_THAT(texts(), Contains(HasSubstr("axis: ")));
}

// Above the curve is one line, whether a value is called best or not: nothing is left blank, and
// nothing moves while a value does.
TEST_F(PredictionTest, ScaleAndBestValueShareALine) {
  const auto height = [&] {
    window_.frames(snapshot_, 3);
    return window_.probe().find("slider/bucket_cap_mb")->rect.y -
           window_.probe().find("knob/bucket_cap_mb")->rect.y;
  };
  publish();
  const float with_best = height();
  const auto* best = window_.probe().find("best/bucket_cap_mb");
  ASSERT_NE(best, nullptr);
  const auto scale = std::ranges::find_if(
      window_.probe().texts, [](const auto& text) { return text.text.starts_with("axis: "); });
  ASSERT_NE(scale, window_.probe().texts.end());
  EXPECT_NEAR(scale->rect.center_y(), best->rect.center_y(), 2);
  EXPECT_GT(best->rect.x, scale->rect.right());
  for (auto& point : view_.curves.front().points) point.difference.reset();
  publish();
  EXPECT_EQ(height(), with_best);
  EXPECT_EQ(window_.probe().find("best/bucket_cap_mb"), nullptr);
}

TEST_F(PredictionTest, ACurveWithoutAPredictionIsNone) {
  EXPECT_FALSE(present::knob_chart(snapshot_, cap_knob()));
  view_.curves.front().points.clear();
  publish();
  const auto chart = present::knob_chart(snapshot_, cap_knob());
  ASSERT_TRUE(chart) << "it is being worked out";
  EXPECT_TRUE(chart->points.empty());
  window_.frames(snapshot_, 3);
  EXPECT_FALSE(window_.click(snapshot_, "best/bucket_cap_mb"));
}

}  // namespace
}  // namespace shardlens::ui::tune
