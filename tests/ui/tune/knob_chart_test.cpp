// What stands behind a slider: its values, what was measured along it, or why there is no curve.
#include "ui/present/tune/knob_chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/ui/testing/sample_snapshot.h"
#include "ui/present/tune/knob_rows.h"

namespace shardlens::ui::present {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const trace::job::Knob& knob(const char* name) { return *trace::job::find_knob(name); }

TEST(SliderValues, GoThroughValuesOfTheirOwn) {
  const auto few = slider_values(knob("bucket_cap_mb"), 2, {"25", "3.7", "25.0"});
  EXPECT_THAT(few, ElementsAre("0.25", "3.7", "25", "510")) << "each once, ascending";
  EXPECT_THAT(slider_values(knob("batch_per_rank"), 2, {"4", "9999"}), ElementsAre("1", "4", "260"))
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
  void publish() { snapshot_.prediction = std::make_shared<const state::PredictionView>(view_); }

  state::Snapshot snapshot_ = sample_snapshot({.live = false});
  state::PredictionView view_;
};

// 80 ms for 2 ranks with 4 samples each.
TEST_F(KnobChartTest, MeasuredRunsCountTheSamplesOfAllRanks) {
  state::Ledger ledger;
  auto settings = snapshot_.knobs.next;
  settings.learning_rate *= 2;  // no step takes longer for that
  ledger.rows = {measured_row(settings)};
  snapshot_.ledger = std::make_shared<const state::Ledger>(ledger);
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
  EXPECT_THAT(measured_values(ledger, snapshot_.knobs.next, knob("batch_per_rank")),
              ElementsAre("4"));
  view_.prediction->is_of_another_program = true;
  publish();
  EXPECT_TRUE(knob_chart(snapshot_, knob("batch_per_rank"))->measured.empty())
      << "another program's run was of another job";
}

TEST_F(KnobChartTest, AMeasuredRunSetsTheValueThatItHad) {
  state::Ledger ledger;
  auto settings = snapshot_.knobs.next;
  settings.bucket_cap_mb = 0.390625;
  ledger.rows = {measured_row(settings)};
  snapshot_.ledger = std::make_shared<const state::Ledger>(ledger);
  view_.curves = {{&knob("bucket_cap_mb"), 80e6}};
  view_.curves[0].points = {{"0.25", 0.25, 80e6, std::nullopt, true},
                            {"25", 25, 90e6, std::nullopt, true}};
  publish();
  const auto chart = knob_chart(snapshot_, knob("bucket_cap_mb"));
  ASSERT_TRUE(chart);
  ASSERT_EQ(chart->measured.size(), 1u);
  EXPECT_EQ(chart->measured[0].value, "0.390625") << "every digit";
}

// Whether the device was named or found, the run was there.
TEST_F(KnobChartTest, RunsOnTheDeviceThatIsNamedAreDots) {
  using trace::job::DeviceChoice;
  state::Ledger ledger;
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
    ledger.rows.push_back(row);
  }
  const auto measured_with = [&](DeviceChoice device) {
    auto next = snapshot_.knobs.next;
    next.device = device;
    return measured_values(ledger, next, knob("bucket_cap_mb")).size();
  };
  EXPECT_EQ(measured_with(DeviceChoice::kCuda), 2u);
  EXPECT_EQ(measured_with(DeviceChoice::kAuto), 2u);
  EXPECT_EQ(measured_with(DeviceChoice::kCpu), 0u) << "none ran there";
}

TEST_F(KnobChartTest, ASliderWithoutACurveSaysWhy) {
  EXPECT_EQ(why_no_curve(snapshot_, knob("steps")), "") << "no run, no prediction";
  publish();
  EXPECT_THAT(why_no_curve(snapshot_, knob("steps")), HasSubstr("no step takes longer"));
  EXPECT_THAT(why_no_curve(snapshot_, knob("lora_rank")), HasSubstr("does not tell"));
  EXPECT_THAT(why_no_curve(snapshot_, knob("bucket_cap_mb")), HasSubstr("one value only"));
  view_.curves = {{.knob = &knob("bucket_cap_mb")}};
  publish();
  EXPECT_EQ(why_no_curve(snapshot_, knob("bucket_cap_mb")), "");
  view_.prediction->is_of_another_program = true;
  publish();
  EXPECT_THAT(why_no_curve(snapshot_, knob("batch_per_rank")), HasSubstr("this run does not tell"));
}

}  // namespace
}  // namespace shardlens::ui::present
