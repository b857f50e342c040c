#include "app/sweep/sweep_prediction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_up_sweep.h"
#include "tests/trace/tuning/recorded_job.h"

namespace shardlens::app::sweep {
namespace {

using testing::HasSubstr;
using trace::tuning::RecordedJob;

// Points beside the recorded job, which has bucket_cap_mb=1.
struct SweepPredictionsTest : testing::Test {
  RecordedJob job;
  PredictorOf predictor;
  SweepPlan plan{.name = "caps", .points = {}, .repeats = 2};
  SweepResults results;
  std::map<std::string, int> learnt;  // how often which run was read
  std::string unreadable;             // a run of which nothing is learnt
  LearntRuns runs{[this](const std::filesystem::path& run) {
    ++learnt[run.string()];
    if (run == unreadable) {
      return trace::base::Result<PredictorOf>(
          trace::base::fail(trace::base::ErrorKind::kUsage, "it has no steps"));
    }
    return trace::base::Result<PredictorOf>(predictor);
  }};

  SweepPredictionsTest() {
    const auto recorded = job.record();
    predictor = std::make_shared<const trace::tuning::Predictor>(
        trace::tuning::Predictor::create(job.figures, recorded).value());
    plan.points.varied = {trace::job::find_knob("bucket_cap_mb")};
    for (const double cap : {1.0, 2.0, 25.0}) {
      plan.points.settings.emplace_back(job.figures.info.settings).bucket_cap_mb = cap;
    }
  }
  void add(Slot slot, const std::string& run, double step_ms = 100) {
    auto result = measured(step_ms, run);
    result.folder = run;
    results[slot] = result;
  }
  // As the order of the first round has them.
  std::size_t first_point() const { return order_of(plan, 0).front(); }
};

TEST_F(SweepPredictionsTest, NothingIsPredictedBeforeARunWasMeasured) {
  const auto all = predictions_of(plan, results, runs);
  EXPECT_EQ(all.from, "");
  ASSERT_EQ(all.points.size(), 3u);
  EXPECT_FALSE(all.points[1].step_ns);
  EXPECT_EQ(all.points[1].reason, "no run was measured so far");
  results[{1, 0}] = failed("rank 1 was killed");
  EXPECT_EQ(predictions_of(plan, results, runs).points[1].reason, "no run was measured so far");
}

TEST_F(SweepPredictionsTest, SpeaksOfNoOtherPointWhereThereIsNone) {
  plan.points.settings.resize(1);
  add({0, 0}, "a");
  EXPECT_THAT(predictions_of(plan, results, runs).points[0].reason, HasSubstr("no other point"));
}

TEST_F(SweepPredictionsTest, PredictsEveryOtherPointFromARunOfOne) {
  add({0, 0}, "a");
  const auto all = predictions_of(plan, results, runs);
  EXPECT_EQ(all.from, "a");
  EXPECT_FALSE(all.points[0].step_ns) << "it was measured, not predicted";
  EXPECT_THAT(all.points[0].reason, HasSubstr("this one"));
  for (const std::size_t point : {1u, 2u}) {
    const auto alone = predictor->predict(plan.points.settings[point]);
    ASSERT_TRUE(alone);
    EXPECT_DOUBLE_EQ(all.points[point].step_ns.value(), alone->step_ns);
    EXPECT_DOUBLE_EQ(all.points[point].interval.value().high_ns, alone->interval->high_ns);
    EXPECT_EQ(all.points[point].reason, "");
  }
}

TEST_F(SweepPredictionsTest, WhatAPointItselfMeasuredChangesNothing) {
  add({first_point(), 0}, "a");
  const auto before = predictions_of(plan, results, runs);
  const std::size_t other = (first_point() + 1) % 3;
  add({other, 0}, "b", 9999);
  add({other, 1}, "c", 9999);
  const auto after = predictions_of(plan, results, runs);
  EXPECT_EQ(after.from, "a");
  EXPECT_EQ(after.points[other].step_ns, before.points[other].step_ns);
  EXPECT_EQ(learnt, (std::map<std::string, int>{{"a", 1}})) << "a run is read once";
}

TEST_F(SweepPredictionsTest, ARunThatTellsNothingIsPassedOver) {
  const std::size_t second = order_of(plan, 0)[1];
  add({first_point(), 0}, "a");
  add({second, 0}, "b");
  unreadable = "a";
  const auto all = predictions_of(plan, results, runs);
  EXPECT_EQ(all.from, "b");
  EXPECT_FALSE(all.points[second].step_ns);
  EXPECT_TRUE(all.points[first_point()].step_ns);
}

TEST_F(SweepPredictionsTest, WhyNothingIsPredictedIsSaidOfEachPoint) {
  add({0, 0}, "a");
  unreadable = "a";
  auto all = predictions_of(plan, results, runs);
  EXPECT_EQ(all.from, "");
  for (const auto& point : all.points) EXPECT_EQ(point.reason, "it has no steps");
  unreadable = "";
  plan.points.settings[2].model = "gpt2";
  runs = LearntRuns([this](const auto&) { return trace::base::Result<PredictorOf>(predictor); });
  all = predictions_of(plan, results, runs);
  EXPECT_TRUE(all.points[1].step_ns);
  EXPECT_FALSE(all.points[2].step_ns);
  EXPECT_NE(all.points[2].reason, "");
}

}  // namespace
}  // namespace shardlens::app::sweep
