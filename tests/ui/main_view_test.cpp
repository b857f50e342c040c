// Panels in a headless window: they draw every state, texts keep apart, clicks become commands.
#include "ui/main_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "tests/ui/headless_window.h"
#include "tests/ui/sample_snapshot.h"

namespace shardlens::ui {

namespace {

Rect intersection(const Rect& a, const Rect& b) {
  const float x = std::max(a.x, b.x), y = std::max(a.y, b.y);
  return {x, y, std::min(a.right(), b.right()) - x, std::min(a.bottom(), b.bottom()) - y};
}

// Texts that lie over each other by more than the rounding of their boxes.
std::vector<std::string> overlapping_texts(const DrawProbe& probe) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < probe.texts.size(); ++i) {
    const auto& a = probe.texts[i];
    const Rect seen_a = intersection(a.rect, a.clip);
    if (seen_a.empty()) continue;
    for (std::size_t j = i + 1; j < probe.texts.size(); ++j) {
      const auto& b = probe.texts[j];
      if (a.layer != b.layer) continue;
      const Rect both = intersection(seen_a, intersection(b.rect, b.clip));
      if (both.w > 1.5f && both.h > 1.5f) out.push_back(a.text + " | " + b.text);
    }
  }
  return out;
}

Snapshot snapshot_of(int state) {
  SampleOptions gpu;
  gpu.ranks = 4;
  gpu.gpu = true;
  switch (state) {
    case 0:
      return sample_snapshot();
    case 1:
      return sample_snapshot(gpu);
    case 2:
      return empty_snapshot();
    case 3:
      return failed_snapshot();
    case 4:
      return installing_snapshot();
    default:
      return replay_snapshot();
  }
}

TEST(OverlappingTexts, AreFound) {
  DrawProbe probe;
  const Rect window{0, 0, 100, 100};
  probe.texts.push_back({"one", {10, 10, 30, 9}, window, 0});
  probe.texts.push_back({"two", {35, 12, 30, 9}, window, 0});
  EXPECT_EQ(overlapping_texts(probe).size(), 1u);
  probe.texts[1].layer = 1;
  EXPECT_TRUE(overlapping_texts(probe).empty());
}

using Case = std::tuple<std::pair<int, int>, float, int>;
class WindowTest : public ::testing::TestWithParam<Case> {};

TEST_P(WindowTest, DrawsEveryStateWithoutOverlappingText) {
  const auto& [size, scale, state] = GetParam();
  for (const ThemeKind theme : {ThemeKind::kDark, ThemeKind::kLight}) {
    ViewPreferences preferences;
    preferences.theme = theme;
    preferences.scale = scale;
    HeadlessWindow window(size.first, size.second, preferences);
    window.frames(snapshot_of(state), 3);
    EXPECT_EQ(overlapping_texts(window.probe()), std::vector<std::string>{});
    EXPECT_GT(window.probe().texts.size(), 20u);
  }
}

TEST_P(WindowTest, NeverCutsTheHeadlines) {
  const auto& [size, scale, state] = GetParam();
  ViewPreferences preferences;
  preferences.scale = scale;
  HeadlessWindow window(size.first, size.second, preferences);
  window.frames(snapshot_of(state), 3);
  const bool has_run = state == 0 || state == 1 || state == 3 || state == 5;
  for (const char* text : {"Shardlens", "Settings for the next run"})
    EXPECT_TRUE(window.probe().shows(text)) << text;
  if (!has_run) return;
  for (const char* text : {"Step", "Exposed", "Step time"}) {
    EXPECT_TRUE(window.probe().shows(text)) << text;
  }
  EXPECT_TRUE(window.probe().shows(state == 3 ? "The run failed" : "Timeline · step"));
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, WindowTest,
    ::testing::Combine(::testing::Values(std::pair{1280, 720}, std::pair{1280, 800},
                                         std::pair{1600, 1000}, std::pair{1920, 1200}),
                       ::testing::Values(1.0f, 1.5f), ::testing::Range(0, 6)));

class ClickTest : public ::testing::Test {
 protected:
  HeadlessWindow window_{1600, 1000};
  Snapshot snapshot_ = sample_snapshot();

  template <typename T>
  const T* command() {
    commands_ = window_.take_commands();
    return HeadlessWindow::find<T>(commands_);
  }
  Commands commands_;
};

TEST_F(ClickTest, StopsTheRunFromTheTopBar) {
  ASSERT_TRUE(window_.click(snapshot_, "top/stop"));
  EXPECT_NE(command<StopRun>(), nullptr);
}

TEST_F(ClickTest, QueuesOrStopsAndStarts) {
  ASSERT_TRUE(window_.click(snapshot_, "start/main"));
  const auto* queued = command<StartRun>();
  ASSERT_NE(queued, nullptr);
  EXPECT_FALSE(queued->stop_current);
  ASSERT_TRUE(window_.click(snapshot_, "start/stop_and_start"));
  const auto* stopped = command<StartRun>();
  ASSERT_NE(stopped, nullptr);
  EXPECT_TRUE(stopped->stop_current);
}

TEST_F(ClickTest, DoesNotStartSettingsThatHaveAProblem) {
  snapshot_ = empty_snapshot();
  snapshot_.knobs.problems.push_back({"ranks", "More ranks than GPUs"});
  ASSERT_TRUE(window_.click(snapshot_, "start/main"));
  EXPECT_EQ(command<StartRun>(), nullptr);
  EXPECT_TRUE(window_.probe().shows("More ranks than GPUs"));
}

TEST_F(ClickTest, StartsWithControlEnter) {
  window_.frame(snapshot_);
  window_.press(snapshot_, Key::kEnter, true);
  EXPECT_NE(command<StartRun>(), nullptr);
}

TEST_F(ClickTest, ChangesAKnobByItsSliderCheckboxAndList) {
  ASSERT_TRUE(window_.drag(snapshot_, "slider/bucket_cap_mb", 0.5f, 0.9f));
  const auto* dragged = command<SetKnob>();
  ASSERT_NE(dragged, nullptr);
  EXPECT_EQ(dragged->name, "bucket_cap_mb");
  ASSERT_TRUE(window_.click(snapshot_, "knob/static_graph"));
  const auto* checked = command<SetKnob>();
  ASSERT_NE(checked, nullptr);
  EXPECT_EQ(checked->text, "true");
  ASSERT_TRUE(window_.click(snapshot_, "knob/model"));
  ASSERT_TRUE(window_.click(snapshot_, "knob/model/gpt2"));
  const auto* chosen = command<SetKnob>();
  ASSERT_NE(chosen, nullptr);
  EXPECT_EQ(chosen->text, "gpt2");
}

TEST_F(ClickTest, ChangesAKnobByTyping) {
  ASSERT_TRUE(window_.click(snapshot_, "knob/ranks"));
  window_.type(snapshot_, "4");
  window_.press(snapshot_, Key::kEnter);
  const auto* typed = command<SetKnob>();
  ASSERT_NE(typed, nullptr);
  EXPECT_EQ(typed->name, "ranks");
  EXPECT_EQ(typed->text, "4");
}

TEST_F(ClickTest, UndoesAChangedKnob) {
  ASSERT_TRUE(window_.click(snapshot_, "undo/bucket_cap_mb"));
  const auto* reset = command<ResetKnob>();
  ASSERT_NE(reset, nullptr);
  EXPECT_EQ(reset->name, "bucket_cap_mb");
  ASSERT_TRUE(window_.click(snapshot_, "knobs/reset"));
  EXPECT_NE(command<ResetKnobs>(), nullptr);
}

TEST_F(ClickTest, SelectsAStepInTheChart) {
  ASSERT_TRUE(window_.click(snapshot_, "steps/plot"));
  const auto* selected = command<SelectStep>();
  ASSERT_NE(selected, nullptr);
  EXPECT_GE(selected->step, 0);
  EXPECT_LT(selected->step, 120);
}

TEST_F(ClickTest, WalksThroughStepsWithArrows) {
  window_.frame(snapshot_);
  window_.press(snapshot_, Key::kLeft);
  const auto* before = command<SelectStep>();
  ASSERT_NE(before, nullptr);
  EXPECT_EQ(before->step, 118);
  window_.press(snapshot_, Key::kRight);
  EXPECT_EQ(command<SelectStep>(), nullptr) << "there is no step behind the last";
}

TEST_F(ClickTest, PausesFollowingWithSpace) {
  window_.frame(snapshot_);
  window_.press(snapshot_, Key::kSpace);
  const auto* paused = command<SelectStep>();
  ASSERT_NE(paused, nullptr);
  EXPECT_EQ(paused->step, 119);
}

TEST_F(ClickTest, ShowsARunByClickAndReplaysItByDoubleClick) {
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/baseline"));
  const auto* shown = command<ShowRun>();
  ASSERT_NE(shown, nullptr);
  EXPECT_EQ(shown->folder, "runs/baseline");
  ASSERT_TRUE(window_.double_click(snapshot_, "ledger/runs/cap 0.25"));
  const auto* replayed = command<StartReplay>();
  ASSERT_NE(replayed, nullptr);
  EXPECT_EQ(replayed->folder, "runs/cap 0.25");
}

TEST_F(ClickTest, OffersMoreByRightClickOnARun) {
  ASSERT_TRUE(window_.click(snapshot_, "ledger/runs/baseline", 1));
  ASSERT_TRUE(window_.click(snapshot_, "menu/settings"));
  const auto* copied = command<CopySettings>();
  ASSERT_NE(copied, nullptr);
  EXPECT_EQ(copied->folder, "runs/baseline");
}

TEST_F(ClickTest, ControlsTheReplay) {
  snapshot_ = replay_snapshot();
  ASSERT_TRUE(window_.click(snapshot_, "replay/play"));
  const auto* playing = command<SetReplayPlaying>();
  ASSERT_NE(playing, nullptr);
  EXPECT_FALSE(playing->playing);
  ASSERT_TRUE(window_.click(snapshot_, "replay/faster"));
  EXPECT_DOUBLE_EQ(command<SetReplaySpeed>()->speed, 5);
  ASSERT_TRUE(window_.drag(snapshot_, "replay/scrubber", 0.6f, 0.25f));
  const auto* sought = command<SeekReplay>();
  ASSERT_NE(sought, nullptr);
  EXPECT_LT(sought->time_ns, snapshot_.replay.now_ns);
  ASSERT_TRUE(window_.click(snapshot_, "replay/leave"));
  EXPECT_NE(command<StopReplay>(), nullptr);
}

TEST_F(ClickTest, ZoomsTheTimelineAtThePointerAndFitsIt) {
  window_.frame(snapshot_);
  const Rect plot = window_.probe().find("timeline/plot")->rect;
  window_.move_to(snapshot_, plot.center_x(), plot.center_y());
  const TimelineView& view = window_.view().workspace().timeline().view();
  const double span = view.span_ns();
  window_.wheel(snapshot_, 3);
  EXPECT_LT(view.span_ns(), span * 0.6);
  window_.press(snapshot_, Key::kF);
  EXPECT_DOUBLE_EQ(view.span_ns(), span);
}

TEST_F(ClickTest, PinsDetailsOfACollectiveAndClearsThem) {
  window_.frame(snapshot_);
  const Rect plot = window_.probe().find("timeline/plot")->rect;
  window_.click_at(snapshot_, plot.x + plot.w * 0.6f,
                   plot.y + RowHeights{}.phases + RowHeights{}.compute + 20);
  ASSERT_TRUE(window_.view().workspace().timeline().pinned().has_value());
  window_.press(snapshot_, Key::kEscape);
  EXPECT_FALSE(window_.view().workspace().timeline().pinned().has_value());
}

TEST_F(ClickTest, SetsAKnobFromTheCommandPalette) {
  window_.frame(snapshot_);
  window_.press(snapshot_, Key::kK, true);
  window_.type(snapshot_, "bucket_cap_mb 4");
  window_.press(snapshot_, Key::kEnter);
  const auto* set = command<SetKnob>();
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->text, "4");
}

TEST_F(ClickTest, TriesTheSetUpAgain) {
  snapshot_ = installing_snapshot();
  snapshot_.trainer = {TrainerSetup::State::kFailed, "No space left: free 5 GB and try again", -1};
  ASSERT_TRUE(window_.click(snapshot_, "start/retry"));
  EXPECT_NE(command<RetryTrainerSetup>(), nullptr);
}

TEST(MainView, GoesToPresentModeAndChangesScaleByKeys) {
  HeadlessWindow window(1920, 1200);
  const Snapshot snapshot = sample_snapshot();
  window.frame(snapshot);
  window.press(snapshot, Key::kEqual, true);
  EXPECT_FLOAT_EQ(window.view().preferences().scale, 1.125f);
  window.press(snapshot, Key::kZero, true);
  EXPECT_FLOAT_EQ(window.view().preferences().scale, 1);
  window.press(snapshot, Key::kF11);
  EXPECT_TRUE(window.view().preferences().present_mode);
  window.frames(snapshot, 2);
  EXPECT_FALSE(window.probe().shows("Settings for the next run"));
  EXPECT_TRUE(window.probe().shows("F11"));
}

TEST(MainView, SleepsOnceNothingChanges) {
  HeadlessWindow window(1280, 720);
  Snapshot snapshot = sample_snapshot();
  window.frames(snapshot, 12);
  EXPECT_FALSE(window.view().wants_redraw());
  ++snapshot.version;
  window.frame(snapshot);
  EXPECT_TRUE(window.view().wants_redraw());
}

TEST(MainView, ShowsTheReasonOfAFailure) {
  HeadlessWindow window(1280, 720);
  window.frames(failed_snapshot(), 3);
  EXPECT_TRUE(window.probe().shows("out of memory"));
  EXPECT_TRUE(window.probe().shows("Rank 0 waits"));
}

TEST(MainView, HidesAFailureOnceItWasRead) {
  HeadlessWindow window(1280, 720);
  const Snapshot snapshot = failed_snapshot();
  ASSERT_TRUE(window.click(snapshot, "failure/hide"));
  EXPECT_FALSE(window.probe().shows("The run failed"));
  EXPECT_TRUE(window.probe().shows("Timeline · step"));
}

TEST(MainView, SurvivesTinyAndChangingWindows) {
  HeadlessWindow window(1280, 720);
  const Snapshot snapshot = replay_snapshot();
  for (const auto& [width, height] : {std::pair{200, 120}, {1, 1}, {3840, 2160}, {400, 2000}}) {
    window.resize(width, height);
    window.frames(snapshot, 2);
  }
  EXPECT_GT(window.probe().texts.size(), 10u);
}

}  // namespace

}  // namespace shardlens::ui
