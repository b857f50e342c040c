// Loss and evaluations beside the step times, or as a tab where there is no room.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "ui/learn/learning_chart.h"

namespace shardlens::ui::learn {
namespace {

// The sample's run with evaluations after steps 40 and 80.
state::Snapshot evaluated_snapshot() {
  state::Snapshot snapshot = sample_snapshot();
  auto run = std::make_shared<state::RunView>(*snapshot.run);
  for (const std::int64_t step : {40, 80}) {
    trace::model::Evaluation row;
    row.step = step;
    row.loss = step == 40 ? 4.25 : 4.5;
    row.perplexity = std::exp(row.loss);
    run->figures.evaluations.push_back(row);
  }
  snapshot.run = std::move(run);
  return snapshot;
}

TEST(LearningPanel, StandsBesideTheStepTimesWithTheBestEvaluation) {
  HeadlessWindow window{1600, 1000};
  const state::Snapshot snapshot = evaluated_snapshot();
  window.frames(snapshot, 3);
  for (const char* text :
       {"Learning", "Evaluation", "Learning rate", "Gradient norm", "lowest 4.25 after step 40"}) {
    EXPECT_TRUE(window.probe().shows(text)) << text;
  }
  EXPECT_EQ(window.probe().find("dock/Learning"), nullptr);
}

TEST(LearningPanel, SelectsTheStepUnderTheMouse) {
  HeadlessWindow window{1600, 1000};
  const state::Snapshot snapshot = evaluated_snapshot();
  window.frames(snapshot, 3);
  const auto* plot = window.probe().find("learning/loss");
  ASSERT_NE(plot, nullptr);
  const state::Rect area = plot->rect;
  const float x = area.x + area.w * 0.25f;
  const auto expected = nearest_read_step(
      snapshot.run->figures,
      step_axis(snapshot.run->figures).step_at(static_cast<double>(x - area.x), area.w));
  window.click_at(snapshot, x, area.center_y());
  const auto selected = window.take<state::SelectStep>();
  ASSERT_TRUE(selected);
  EXPECT_EQ(selected->step, expected->index);
}

TEST(LearningPanel, IsATabWhereThereIsNoRoom) {
  HeadlessWindow window{1280, 800};
  const state::Snapshot snapshot = evaluated_snapshot();
  window.frames(snapshot, 3);
  EXPECT_FALSE(window.probe().shows("Gradient norm"));
  ASSERT_TRUE(window.click(snapshot, "dock/Learning"));
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.probe().shows("Gradient norm"));
  EXPECT_NE(window.probe().find("learning/loss"), nullptr);
}

TEST(LearningPanel, IsNotOfferedForARunWithoutLosses) {
  state::Snapshot snapshot = sample_snapshot();
  auto run = std::make_shared<state::RunView>(*snapshot.run);
  for (auto& step : run->figures.steps) step.loss = std::numeric_limits<double>::quiet_NaN();
  snapshot.run = std::move(run);
  for (const int width : {1600, 1280}) {
    HeadlessWindow window{width, 1000};
    window.frames(snapshot, 3);
    EXPECT_FALSE(window.probe().shows("Learning rate") && window.probe().shows("Gradient norm"));
    EXPECT_EQ(window.probe().find("dock/Learning"), nullptr);
  }
}

}  // namespace
}  // namespace shardlens::ui::learn
