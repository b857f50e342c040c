// Steps by mouse and keyboard: in their chart, on the timeline and in a replay.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "tests/ui/testing/click_test.h"
#include "tests/ui/testing/own_copy.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/timeline_rows.h"
#include "ui/present/format.h"

namespace shardlens::ui {
namespace {

TEST_F(ClickTest, SelectsAStepInTheChart) {
  ASSERT_TRUE(window_.click(snapshot_, "steps/plot"));
  const auto* selected = command<state::SelectStep>();
  ASSERT_NE(selected, nullptr);
  EXPECT_GE(selected->step, 0);
  EXPECT_LT(selected->step, 120);
}

// Of many steps a bar shows the slowest, but its mark is another one's.
TEST_F(ClickTest, AMarkedBarTellsAndSelectsTheStepItIsMarkedFor) {
  snapshot_ = sample_snapshot({.steps = 3000, .live = false});
  auto& run = own_copy(snapshot_.run);
  auto& steps = run.figures.steps;
  for (auto& step : steps) step.nonfinite = false;
  steps[2000].nonfinite = true;
  for (auto& rank : steps[2000].ranks) rank.step_ns /= 2;
  window_.frames(snapshot_, 2);
  const state::Rect plot = window_.probe().find("steps/plot")->rect;
  float x = plot.x + 1;
  while (x < plot.right() && !window_.probe().shows("not finite")) {
    window_.move_to(snapshot_, x += 2, plot.center_y());
  }
  const std::string name = "Step " + present::format_integer(steps[2000].index);
  EXPECT_TRUE(window_.probe().shows(name + ": Loss or gradient norm is not finite"));
  window_.take_commands();
  window_.click_at(snapshot_, x, plot.center_y());
  const auto* selected = command<state::SelectStep>();
  ASSERT_NE(selected, nullptr);
  EXPECT_EQ(selected->step, steps[2000].index);
}

TEST_F(ClickTest, WalksThroughStepsWithArrows) {
  window_.frame(snapshot_);
  window_.press(snapshot_, kit::Key::kLeft);
  const auto* before = command<state::SelectStep>();
  ASSERT_NE(before, nullptr);
  EXPECT_EQ(before->step, 118);
  window_.press(snapshot_, kit::Key::kRight);
  EXPECT_EQ(command<state::SelectStep>(), nullptr) << "there is no step behind the last";
}

TEST_F(ClickTest, PausesFollowingWithSpace) {
  window_.frame(snapshot_);
  window_.press(snapshot_, kit::Key::kSpace);
  const auto* paused = command<state::SelectStep>();
  ASSERT_NE(paused, nullptr);
  EXPECT_EQ(paused->step, 119);
}

TEST_F(ClickTest, ControlsTheReplay) {
  snapshot_ = replay_snapshot();
  ASSERT_TRUE(window_.click(snapshot_, "replay/play"));
  const auto* playing = command<state::SetReplayPlaying>();
  ASSERT_NE(playing, nullptr);
  EXPECT_FALSE(playing->playing);
  ASSERT_TRUE(window_.click(snapshot_, "replay/faster"));
  EXPECT_DOUBLE_EQ(command<state::SetReplaySpeed>()->speed, 5);
  ASSERT_TRUE(window_.drag(snapshot_, "replay/scrubber", 0.6f, 0.25f));
  const auto* sought = command<state::SeekReplay>();
  ASSERT_NE(sought, nullptr);
  EXPECT_LT(sought->time_ns, snapshot_.replay.now_ns);
  ASSERT_TRUE(window_.click(snapshot_, "replay/leave"));
  EXPECT_NE(command<state::StopReplay>(), nullptr);
}

TEST_F(ClickTest, ZoomsTheTimelineAtThePointerAndFitsIt) {
  window_.frame(snapshot_);
  const state::Rect plot = window_.probe().find("inspect/plot")->rect;
  window_.move_to(snapshot_, plot.center_x(), plot.center_y());
  const inspect::TimeWindow& view = window_.view().workspace().timeline().state().step_window;
  const double span = view.span_ns();
  window_.wheel(snapshot_, 3);
  EXPECT_LT(view.span_ns(), span * 0.6);
  window_.press(snapshot_, kit::Key::kF);
  EXPECT_DOUBLE_EQ(view.span_ns(), span);
}

TEST_F(ClickTest, PinsDetailsOfACollectiveAndClearsThem) {
  click_collective();
  const auto& pinned = window_.view().workspace().timeline().state().pinned;
  ASSERT_TRUE(pinned && pinned->collective);
  window_.frame(snapshot_);
  EXPECT_TRUE(window_.probe().shows("Transferring"));
  window_.press(snapshot_, kit::Key::kEscape);
  EXPECT_FALSE(pinned);
}

TEST_F(ClickTest, DropsWhatIsPinnedWithItsStepAndItsRun) {
  const auto& pinned = window_.view().workspace().timeline().state().pinned;
  const auto pin = [&] {
    window_.frames(snapshot_, 20);  // not a double-click
    click_collective();
    return pinned.has_value();
  };
  ASSERT_TRUE(pin());
  auto run = std::make_shared<state::RunView>(*snapshot_.run);
  auto timeline = std::make_shared<trace::timeline::StepPicture>(*run->timeline);
  auto rows = std::make_shared<trace::timeline::TimelineRows>(*timeline->rows);
  timeline->rows = rows;
  run->timeline = timeline;
  snapshot_.run = run;
  window_.frame(snapshot_);
  EXPECT_TRUE(pinned.has_value()) << "more of the same step came in";
  run = std::make_shared<state::RunView>(*run);
  timeline = std::make_shared<trace::timeline::StepPicture>(*timeline);
  rows = std::make_shared<trace::timeline::TimelineRows>(*rows);
  for (auto& border : rows->steps) border.step = 7;
  timeline->rows = rows;
  timeline->step = run->selected_step = 7;
  run->timeline = timeline;
  snapshot_.run = run;
  window_.frame(snapshot_);
  EXPECT_FALSE(pinned.has_value());
  ASSERT_TRUE(pin());
  run = std::make_shared<state::RunView>(*snapshot_.run);
  run->figures.info.folder = "runs/another";
  snapshot_.run = run;
  window_.frame(snapshot_);
  EXPECT_FALSE(pinned.has_value());
}

TEST_F(ClickTest, SaysThatAStepWasRecordedWithoutDetail) {
  auto& run = own_copy(snapshot_.run);
  const auto timeline = std::make_shared<trace::timeline::StepPicture>(*run.timeline);
  timeline->has_detail = false;
  run.timeline = timeline;
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("recorded without detail"));
  EXPECT_TRUE(window_.probe().shows("record_limit_mb")) << "“Record” has every step";
  run.figures.info.settings.record = "every 1000th";
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("set “Record” to every step"));
  run.figures.info.imported_from = "PyTorch profiler";
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("does not tell where this step's time went"));
  EXPECT_FALSE(window_.probe().shows("recorded without detail"));
}

TEST_F(ClickTest, SaysThatNoStepWasRecordedWithDetail) {
  auto& run = own_copy(snapshot_.run);
  const auto timeline = std::make_shared<trace::timeline::StepPicture>(*run.timeline);
  timeline->has_detail = false;
  run.timeline = timeline;
  run.figures.info.settings.record = "none";
  for (auto& step : run.figures.steps) {
    for (auto& rank : step.ranks) rank.has_detail = false;
  }
  run.is_live = false;
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("No step was recorded with detail; set"));
  EXPECT_FALSE(window_.probe().shows("choose another"));
  run.is_live = true;
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("No step was recorded with detail so far; set"))
      << "one that is still to come may be";
}

// On the timeline and under the mouse in the chart, where its bar is the only one.
TEST_F(ClickTest, SaysThatAStepIsNotReadYet) {
  auto& run = own_copy(snapshot_.run);
  const auto timeline = std::make_shared<trace::timeline::StepPicture>(*run.timeline);
  timeline->has_detail = false;
  timeline->awaits_detail = true;
  run.timeline = timeline;
  auto& steps = run.figures.steps;
  steps.erase(steps.begin(), steps.end() - 1);
  steps[0].ranks[0].has_detail = false;
  steps[0].ranks[0].awaits_detail = true;
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("Not read yet: the GPU's records of this step"));
  EXPECT_TRUE(std::ranges::any_of(window_.probe().texts, [](const auto& text) {
    return text.text == "Not read yet";  // the legend
  }));
  EXPECT_FALSE(window_.probe().shows("ecorded without detail"));
  const state::Rect plot = window_.probe().find("steps/plot")->rect;
  window_.move_to(snapshot_, plot.x + 5, plot.bottom() - 5);
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("the GPU's records of this step have not come"));
  run.figures.info.status = trace::model::RunStatus::kFailed;
  window_.frames(snapshot_, 2);
  EXPECT_TRUE(window_.probe().shows("broke off before the GPU's records of this step came"));
  EXPECT_FALSE(window_.probe().shows("Not read yet"));
}

}  // namespace
}  // namespace shardlens::ui
