// What stands behind a slider: its values, what was measured along it, or why there is no curve.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ui/testing/sample_snapshot.h"
#include "ui/present/tune/knob_chart.h"
#include "ui/present/tune/knob_rows.h"

namespace shardlens::ui::present {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const trace::job::Knob& knob(const char* name) { return *trace::job::find_knob(name); }

TEST(SliderValues, GoThroughValuesOfTheirOwn) {
  const auto few = slider_values(knob("bucket_cap_mb"), 2, {"25", "3.7", "25.0"});
  EXPECT_THAT(few, ElementsAre("0.25", "3.7", "25", "512")) << "each once, ascending";
  EXPECT_THAT(slider_values(knob("batch_per_rank"), 2, {"4", "9999"}), ElementsAre("1", "4", "256"))
      << "what lies beyond the slider is no point of its curve";
}

class KnobChartTest : public ::testing::Test {
 protected:
  KnobChartTest() {
    snapshot_.knobs.next = snapshot_.run->figures.info.settings;
    snapshot_.knobs.next.ranks = 2;
    snapshot_.knobs.next.batch_per_rank = 4;
    view_.prediction.emplace();
  }
  // Shown and baseline, of `settings` on two ranks, whose steps took 80 ms.
  state::LedgerRow measured_row(const trace::job::Settings& settings) {
    state::LedgerRow row;
    row.settings = settings;
    row.ranks = 2;
    row.ordinal = "run 7";
    row.summary.step_ns.count = 20;
    row.summary.step_ns.mean = 80e6;
    row.is_shown = row.is_baseline = true;
    return row;
  }
  void publish() {
    view_.measured = measured_runs(ledger_, snapshot_.knobs.next);
    snapshot_.prediction = std::make_shared<const state::PredictionView>(view_);
  }
  std::vector<std::string> runs_along(const char* name) const {
    std::vector<std::string> runs;
    const auto measured = measured_runs(ledger_, snapshot_.knobs.next);
    const auto found = measured.find(&knob(name));
    if (found == measured.end()) return runs;
    for (const auto& run : found->second) runs.push_back(run.run);
    return runs;
  }

  state::Ledger ledger_;
  state::Snapshot snapshot_ = sample_snapshot({.live = false});
  state::PredictionView view_;
};

// 80 ms for 2 ranks with 4 samples each.
TEST_F(KnobChartTest, MeasuredRunsCountTheSamplesOfAllRanks) {
  auto settings = snapshot_.knobs.next;
  settings.learning_rate *= 2;  // no step takes longer for that
  ledger_.rows = {measured_row(settings)};
  trace::tuning::KnobCurve curve{&knob("batch_per_rank"), 10e6,
                                 trace::tuning::KnobCurve::Per::kSample};
  curve.points = {{"4", 4, 10e6, std::nullopt, true}, {"8", 8, 9e6, std::nullopt, true}};
  view_.curves = {curve};
  publish();
  const auto chart = knob_chart(snapshot_, knob("batch_per_rank"));
  ASSERT_TRUE(chart);
  ASSERT_EQ(chart->measured.size(), 1u);
  EXPECT_EQ(chart->measured[0].step, "10.0 ms per sample");
  EXPECT_FLOAT_EQ(chart->measured[0].y, chart->points[0].y) << "on the curve";
  EXPECT_EQ(chart->measured[0].value, "4");
  view_.prediction->is_of_another_program = true;
  publish();
  EXPECT_TRUE(knob_chart(snapshot_, knob("batch_per_rank"))->measured.empty())
      << "another program's run was of another job";
}

TEST_F(KnobChartTest, AMeasuredRunSetsTheValueThatItHad) {
  auto settings = snapshot_.knobs.next;
  settings.bucket_cap_mb = 0.390625;
  ledger_.rows = {measured_row(settings)};
  view_.curves = {{&knob("bucket_cap_mb"), 80e6}};
  view_.curves[0].points = {{"0.25", 0.25, 80e6, std::nullopt, true},
                            {"25", 25, 90e6, std::nullopt, true}};
  publish();
  const auto chart = knob_chart(snapshot_, knob("bucket_cap_mb"));
  ASSERT_TRUE(chart);
  ASSERT_EQ(chart->measured.size(), 1u);
  EXPECT_EQ(chart->measured[0].value, "0.390625") << "every digit";
}

TEST_F(KnobChartTest, ValuesThatAreNotPredictedHaveTheirPlaceAndTheReason) {
  view_.curves = {{&knob("bucket_cap_mb"), 80e6}};
  view_.curves[0].points = {{"0.25", 0.25, 80e6, std::nullopt, true},
                            {"1", 1, 90e6, std::nullopt, true}};
  view_.curves[0].unpredicted = {{"25", 25, "The run moved no sizes near 25 MiB."}};
  publish();
  const auto chart = knob_chart(snapshot_, knob("bucket_cap_mb"));
  ASSERT_TRUE(chart);
  ASSERT_EQ(chart->unpredicted.size(), 1u);
  EXPECT_EQ(chart->unpredicted[0].value, "25");
  EXPECT_EQ(chart->unpredicted[0].why, "The run moved no sizes near 25 MiB.");
  EXPECT_GT(chart->unpredicted[0].x, chart->points[1].x);
}

// What leaves the schedule as it is takes as long as was measured, and is no surer than that.
TEST_F(KnobChartTest, AnUnchangedValueIsTheBestWhereTheRecordedOneIs) {
  view_.curves = {{&knob("bucket_cap_mb"), 80e6}};
  view_.curves[0].points = {{"1", 1, 80e6, trace::tuning::Interval{0, 0}, true},
                            {"4", 4, 90e6, trace::tuning::Interval{-5e6, 25e6}, true}};
  snapshot_.knobs.next.bucket_cap_mb = 4;
  publish();
  EXPECT_FALSE(knob_chart(snapshot_, knob("bucket_cap_mb"))->best);
  view_.curves[0].points[1].difference = {5e6, 15e6};
  publish();
  EXPECT_EQ(knob_chart(snapshot_, knob("bucket_cap_mb"))->best, 0u);
}

TEST_F(KnobChartTest, ACurveWithoutIntervalsSaysWhy) {
  view_.curves = {{&knob("bucket_cap_mb"), 80e6}};
  view_.curves[0].points = {{"0.25", 0.25, 80e6, std::nullopt, true},
                            {"1", 1, 90e6, std::nullopt, true}};
  const auto why = [&] {
    publish();
    return knob_chart(snapshot_, knob("bucket_cap_mb"))->why_unsure;
  };
  EXPECT_EQ(why(), "") << "nothing differs";
  view_.curves[0].why_unsure = "Its steps drift.";
  EXPECT_EQ(why(), "Its steps drift.");
  view_.curves[0].points[1].difference = {9e6, 11e6};
  EXPECT_EQ(why(), "") << "one of them tells";
}

// Whether the device was named or found, the run was there.
TEST_F(KnobChartTest, RunsOnTheDeviceThatIsNamedAreDots) {
  using trace::job::DeviceChoice;
  state::LedgerRow row;
  row.settings = snapshot_.knobs.next;
  row.ranks = 2;
  row.on_gpu = true;
  row.summary.step_ns.count = 20;
  row.summary.step_ns.mean = 80e6;
  row.is_shown = row.is_baseline = true;
  for (const auto device : {DeviceChoice::kCuda, DeviceChoice::kAuto}) {
    row.settings.device = device;
    row.settings.bucket_cap_mb *= 2;
    ledger_.rows.push_back(row);
  }
  const auto measured_with = [&](DeviceChoice device) {
    snapshot_.knobs.next.device = device;
    return runs_along("bucket_cap_mb").size();
  };
  EXPECT_EQ(measured_with(DeviceChoice::kCuda), 2u);
  EXPECT_EQ(measured_with(DeviceChoice::kAuto), 2u);
  EXPECT_EQ(measured_with(DeviceChoice::kCpu), 0u) << "none ran there";
}

// A run lies along the knob in which alone it differs, with what follows from that: beside a cap of
// 25 the first bucket is smaller.
TEST_F(KnobChartTest, ARunLiesAlongTheOnlyKnobInWhichItDiffers) {
  trace::job::Settings& next = snapshot_.knobs.next;
  next.bucket_cap_mb = 4;
  const auto add = [&](const char* name, auto change) {
    state::LedgerRow row = measured_row(next);
    row.ordinal = name;
    change(row.settings);
    ledger_.rows.push_back(row);
  };
  add("same", [](auto&) {});
  add("cap", [](auto& settings) { settings.bucket_cap_mb = 25; });
  add("batch", [](auto& settings) { settings.batch_per_rank *= 2; });
  add("both", [](auto& settings) {
    settings.bucket_cap_mb = 25;
    settings.batch_per_rank *= 2;
  });
  add("first bucket", [](auto& settings) { settings.first_bucket_mb = 2; });
  add("not known", [](auto& settings) { settings.gradient_as_bucket_view = true; });
  EXPECT_THAT(runs_along("bucket_cap_mb"), ElementsAre("same", "cap"));
  EXPECT_THAT(runs_along("batch_per_rank"), ElementsAre("same", "batch"));
}

TEST_F(KnobChartTest, ASliderWithoutACurveSaysWhy) {
  EXPECT_EQ(why_no_curve(snapshot_, knob("steps")), "") << "no run, no prediction";
  publish();
  EXPECT_THAT(why_no_curve(snapshot_, knob("steps")), HasSubstr("no step takes longer"));
  EXPECT_THAT(why_no_curve(snapshot_, knob("lora_rank")), HasSubstr("does not tell"));
  EXPECT_THAT(why_no_curve(snapshot_, knob("bucket_cap_mb")), HasSubstr("one value only"));
  view_.why_no_curve[&knob("bucket_cap_mb")] = "The run moved no sizes near 2 MiB.";
  publish();
  EXPECT_EQ(why_no_curve(snapshot_, knob("bucket_cap_mb")),
            "No curve. The run moved no sizes near 2 MiB.");
  view_.curves = {{.knob = &knob("bucket_cap_mb")}};
  publish();
  EXPECT_EQ(why_no_curve(snapshot_, knob("bucket_cap_mb")), "");
  view_.prediction->is_of_another_program = true;
  publish();
  EXPECT_THAT(why_no_curve(snapshot_, knob("batch_per_rank")), HasSubstr("this run does not tell"));
}

}  // namespace
}  // namespace shardlens::ui::present
