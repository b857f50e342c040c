#include "ui/learn/learning_chart.h"

#include <gtest/gtest.h>

#include <limits>

namespace shardlens::ui::learn {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

trace::analysis::RunFigures run_of(const std::vector<double>& losses) {
  trace::analysis::RunFigures figures;
  figures.info.status = trace::model::RunStatus::kDone;
  for (const double loss : losses) {
    trace::analysis::StepFigures& step = figures.steps.emplace_back();
    step.index = static_cast<std::int64_t>(figures.steps.size()) - 1;
    step.loss = loss;
    step.gradient_norm = 2 * loss;
    step.learning_rate = 0.5;
  }
  return figures;
}

trace::model::Evaluation evaluation(std::int64_t step, double loss) {
  trace::model::Evaluation row;
  row.step = step;
  row.loss = loss;
  return row;
}

TEST(LearningChart, HasAPointForEveryStepThatWasRead) {
  const auto figures = run_of({4, kNaN, 2});
  const auto points = curve_points(figures, LearningCurve::kLoss, step_axis(figures), 201);
  EXPECT_EQ(points, (std::vector<CurvePoint>{{0, 4, 4, 4}, {200, 2, 2, 2}}));
  const auto norms = curve_points(figures, LearningCurve::kGradientNorm, step_axis(figures), 201);
  EXPECT_EQ(norms.back(), (CurvePoint{200, 4, 4, 4}));
  EXPECT_EQ(curve_points(figures, LearningCurve::kLearningRate, step_axis(figures), 201).size(),
            3u);
}

TEST(LearningChart, PutsStepsOfOneColumnTogetherAndLosesNoExtreme) {
  std::vector<double> losses(1000, 3.0);
  losses[501] = 9;
  losses[502] = 1;
  const auto figures = run_of(losses);
  const auto points = curve_points(figures, LearningCurve::kLoss, step_axis(figures), 100);
  ASSERT_LE(points.size(), 100u);
  double low = 3, high = 3, x = -1;
  for (const CurvePoint& point : points) {
    EXPECT_GT(point.x, x);
    x = point.x;
    low = std::min(low, point.low);
    high = std::max(high, point.high);
    EXPECT_LE(point.low, point.mean);
    EXPECT_LE(point.mean, point.high);
  }
  EXPECT_EQ(low, 1);
  EXPECT_EQ(high, 9);
}

TEST(LearningChart, PlacesEvaluationsAtTheirSteps) {
  auto figures = run_of({5, 4, 3, 2, 1});
  figures.evaluations = {evaluation(1, 4.5), evaluation(3, kNaN), evaluation(4, 2.5)};
  const auto points = curve_points(figures, LearningCurve::kEvaluation, step_axis(figures), 41);
  EXPECT_EQ(points, (std::vector<CurvePoint>{{10, 4.5, 4.5, 4.5}, {40, 2.5, 2.5, 2.5}}));
}

TEST(LearningChart, OfALiveRunReachesToItsLastStep) {
  auto figures = run_of({3, 2});
  EXPECT_EQ(step_axis(figures).last, 1);
  figures.info.status = trace::model::RunStatus::kRunning;
  figures.info.settings.steps = 50;
  EXPECT_EQ(step_axis(figures).last, 49);
  figures.info.settings.epochs = 1;  // then nobody knows how many steps that is
  EXPECT_EQ(step_axis(figures).last, 1);
}

TEST(LearningChart, FindsTheStepUnderAPixel) {
  const StepAxis axis{10, 20};
  for (std::int64_t step = axis.first; step <= axis.last; ++step) {
    EXPECT_EQ(axis.step_at(axis.x_of(step, 300), 300), step);
  }
  EXPECT_EQ(axis.step_at(-5, 300), 10);
  EXPECT_EQ(axis.step_at(900, 300), 20);
}

TEST(LearningChart, AxisHoldsAllValuesWithRoomAroundThem) {
  const std::vector<CurvePoint> a{{0, 2, 4, 3}}, b{{5, 1, 1, 1}}, none;
  const auto both = value_axis({&a, &b}, false);
  ASSERT_TRUE(both);
  EXPECT_LT(both->low, 1);
  EXPECT_GT(both->high, 4);
  const auto from_zero = value_axis({&a}, true);
  EXPECT_EQ(from_zero->low, 0);
  EXPECT_FALSE(value_axis({&none}, false));
  const std::vector<CurvePoint> flat{{0, 3, 3, 3}};
  const auto middle = value_axis({&flat}, false);
  EXPECT_NEAR(middle->share_of(3), 0.5, 1e-9);
}

TEST(LearningChart, FindsWhatIsKnownAtAStep) {
  auto figures = run_of({5, kNaN, kNaN, 2});
  figures.evaluations = {evaluation(1, 4.5), evaluation(3, 2.5)};
  EXPECT_EQ(nearest_read_step(figures, 1)->index, 0);
  EXPECT_EQ(nearest_read_step(figures, 2)->index, 3);
  EXPECT_EQ(evaluation_at(figures, 0), nullptr);
  EXPECT_EQ(evaluation_at(figures, 2)->step, 1);
  EXPECT_EQ(evaluation_at(figures, 9)->step, 3);
}

TEST(LearningChart, IsNotOfferedWithoutValidLosses) {
  EXPECT_TRUE(has_learning(run_of({1})));
  EXPECT_FALSE(has_learning(run_of({})));
  EXPECT_FALSE(has_learning(run_of({kNaN})));
  auto apart = run_of({1});
  apart.info.communication_off = true;
  EXPECT_FALSE(has_learning(apart));
}

}  // namespace
}  // namespace shardlens::ui::learn
