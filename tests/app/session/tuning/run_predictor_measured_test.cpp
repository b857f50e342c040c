
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "app/session/runs/library_run.h"
#include "app/session/tuning/run_predictor.h"

namespace shardlens::app::session {
namespace {

using trace::job::Settings;

// A run as it was learnt, and the same run after more steps, which took longer.
struct MeasuredNowTest : testing::Test {
  trace::analysis::RunFigures figures = *read_run_figures(
      std::filesystem::path(SHARDLENS_SOURCE_DIR) / "assets/runs/slow_link_cap_1.shardlens");
  LearntRun learnt = PredictionSource().learn(figures);
  double learnt_ns = figures.summary.step_ns.mean;
  ui::state::RunView now;
  ui::state::KnobDraft draft;

  MeasuredNowTest() {
    now.figures = figures;
    auto& summary = now.figures.summary;
    summary.step_ns.mean += 40e6;
    summary.exposed_ns += 10e6;
    now.is_live = true;
    draft.next = draft.baseline = figures.info.settings;
  }
};

TEST_F(MeasuredNowTest, TheDifferenceIsToTheMeanThatIsOnScreen) {
  draft.next.bucket_cap_mb = 4;
  const auto then = *learnt.predictor->predict(draft.next);
  const auto view = predict_next(learnt, now, draft);
  ASSERT_TRUE(view.prediction) << view.refused;
  const auto& prediction = *view.prediction;
  EXPECT_DOUBLE_EQ(prediction.recorded_step_ns, learnt_ns + 40e6);
  EXPECT_NEAR(prediction.difference_ns(), then.difference_ns(), 1);
  EXPECT_NEAR(prediction.step_ns, then.step_ns + 40e6, 1);
  EXPECT_EQ(prediction.difference->low_ns, then.difference->low_ns);
  ASSERT_EQ(prediction.interval.has_value(), then.interval.has_value());
  if (then.interval) {
    EXPECT_NEAR(prediction.interval->low_ns, then.interval->low_ns + 40e6, 1);
  }
  EXPECT_NEAR(*prediction.exposed_ns - *prediction.recorded_exposed_ns,
              *then.exposed_ns - *then.recorded_exposed_ns, 1);
  EXPECT_EQ(prediction.recorded_exposed_ns, figures.summary.exposed_ns + 10e6);
}

TEST_F(MeasuredNowTest, NothingIsWaitedForLongerThanAStep) {
  draft.next.overlap_comm = false;
  now.figures.summary.exposed_ns = now.figures.summary.step_ns.mean - 1;
  const auto view = predict_next(learnt, now, draft);
  ASSERT_TRUE(view.prediction) << view.refused;
  EXPECT_GT(*learnt.predictor->predict(draft.next)->exposed_ns,
            figures.summary.exposed_ns + view.prediction->difference_ns());
  EXPECT_DOUBLE_EQ(*view.prediction->exposed_ns, view.prediction->step_ns);
}

TEST_F(MeasuredNowTest, WhatChangesNothingTakesWhatIsMeasured) {
  const auto view = predict_next(learnt, now, draft);
  ASSERT_TRUE(view.prediction);
  EXPECT_EQ(view.prediction->difference_ns(), 0);
  EXPECT_EQ(view.prediction->step_ns, learnt_ns + 40e6);
}

TEST_F(MeasuredNowTest, ARunThatHasEndedStaysAsItWasLearnt) {
  now.is_live = false;
  EXPECT_EQ(predict_next(learnt, now, draft).prediction->recorded_step_ns, learnt_ns);
}

// Of each value what is predicted of it by itself, per sample.
TEST_F(MeasuredNowTest, CurvesMoveWithIt) {
  for (const char* name : {"batch_per_rank", "bucket_cap_mb"}) {
    const trace::job::Knob& knob = *trace::job::find_knob(name);
    auto curve = trace::tuning::knob_curve(*learnt.predictor, draft.next, knob, {"1", "4", "8"}, 0);
    ASSERT_EQ(curve.points.size(), 3u);
    measure_now(*learnt.predictor, draft.next, learnt_ns + 40e6, curve);
    const Settings recorded = figures.info.settings;
    const auto divisor = [&](const Settings& settings) {
      if (&knob == trace::job::find_knob("bucket_cap_mb")) return 1.0;
      return static_cast<double>(settings.batch_per_rank * settings.ranks);
    };
    EXPECT_NEAR(curve.recorded_step_ns, (learnt_ns + 40e6) / divisor(recorded), 1);
    for (const auto& point : curve.points) {
      ASSERT_TRUE(trace::job::set_value(draft.next, name, point.text));
      const auto alone = *predict_next(learnt, now, draft).prediction;
      const double divided = divisor(draft.next);
      EXPECT_NEAR(point.step_ns, alone.step_ns / divided, 1) << name << "=" << point.text;
      if (point.difference) {
        EXPECT_NEAR(point.difference->low_ns,
                    (alone.recorded_step_ns + alone.difference->low_ns) / divided -
                        alone.recorded_step_ns / divisor(recorded),
                    1)
            << name << "=" << point.text;
      }
    }
    draft.next = recorded;
  }
}

}  // namespace
}  // namespace shardlens::app::session
