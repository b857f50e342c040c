// The address of what the window shows: it is copied, and leads there again.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/own_copy.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "tests/ui/window/commanded.h"
#include "trace/job/settings/settings.h"
#include "ui/state/snapshot.h"
#include "ui/state/view_address.h"
#include "ui/state/view_preferences.h"

namespace shardlens::ui::window {
namespace {

TEST(MainView, OffersNoAddressOfWhatComparesRuns) {
  const state::Snapshot snapshot = sample_snapshot();
  state::ViewPreferences preferences;
  preferences.workspace = state::kCompareWorkspace;
  HeadlessWindow window(1600, 1000, preferences);
  const auto commands = commanded(window, snapshot, "copy this view");
  EXPECT_EQ(HeadlessWindow::find<state::CopyText>(commands), nullptr);
}

TEST(MainView, CopiesWhatItShowsAndGoesThereAgain) {
  const state::Snapshot snapshot = sample_snapshot();
  HeadlessWindow window(1600, 1000);
  const state::Commands commands = commanded(window, snapshot, "copy this view");
  const auto* copied = HeadlessWindow::find<state::CopyText>(commands);
  ASSERT_NE(copied, nullptr);
  auto address = state::parse_address(copied->text);
  ASSERT_TRUE(address) << copied->text;
  EXPECT_EQ(address->workspace, "tune");
  address->step = 3;
  window.view().go_to(*address);
  window.frames(snapshot, 2);
  const state::Commands went = window.take_commands();
  ASSERT_NE(HeadlessWindow::find<state::SelectStep>(went), nullptr);
  EXPECT_EQ(HeadlessWindow::find<state::SelectStep>(went)->step, 3);
}

TEST(MainView, CopiesTheSettingsThatItPredictsWithAndSetsThemAgain) {
  state::Snapshot snapshot = sample_snapshot();
  state::PredictionView view{.folder = snapshot.run->figures.info.folder, .ordinal = "run 4"};
  auto& prediction = view.prediction.emplace();
  prediction.changes = {{trace::job::find_knob("bucket_cap_mb"), "25", "60", false},
                        {trace::job::find_knob("first_bucket_mb"), "1", "60", true}};
  prediction.recorded_step_ns = 125e6;
  prediction.step_ns = 130e6;
  snapshot.prediction = std::make_shared<const state::PredictionView>(view);
  HeadlessWindow window(1600, 1000);
  const state::Commands commands = commanded(window, snapshot, "copy this view");
  const auto* copied = HeadlessWindow::find<state::CopyText>(commands);
  ASSERT_NE(copied, nullptr);
  const auto address = state::parse_address(copied->text);
  ASSERT_TRUE(address) << copied->text;
  EXPECT_EQ(address->settings, (std::vector<state::AddressSetting>{{"bucket_cap_mb", "60"}}));
  window.view().go_to(*address);
  window.frames(snapshot, 2);
  const state::Commands went = window.take_commands();
  const auto* base = HeadlessWindow::find<state::CopySettings>(went);
  ASSERT_NE(base, nullptr) << "what is set is set beside the run's own";
  EXPECT_EQ(base->folder, snapshot.run->figures.info.folder);
  const auto* set = HeadlessWindow::find<state::SetKnob>(went);
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->name, "bucket_cap_mb");
  EXPECT_EQ(set->text, "60");
  window.frames(snapshot, 2);
  EXPECT_EQ(HeadlessWindow::find<state::SetKnob>(window.take_commands()), nullptr) << "once";
}

// Before, its knobs are one's own.
TEST(MainView, SetsWhatAnAddressAsksOfAnotherProgramsRunOnceThatTellsItsSettings) {
  state::Snapshot snapshot = sample_snapshot();
  auto& run = own_copy(snapshot.run);
  run.figures.info.imported_from = "PyTorch profiler";
  snapshot.prediction = nullptr;
  const auto went_with = [&](const state::Snapshot& later) {
    state::ViewAddress address;
    address.workspace = state::kTuneWorkspace;
    address.run = run.figures.info.name;
    address.step = 3;
    address.settings = {{"bucket_cap_mb", "60"}};
    HeadlessWindow window(1600, 1000);
    window.view().go_to(address);
    window.frames(snapshot, 2);
    const state::Commands early = window.take_commands();
    EXPECT_NE(HeadlessWindow::find<state::SelectStep>(early), nullptr);
    EXPECT_EQ(HeadlessWindow::find<state::SetKnob>(early), nullptr);
    window.frames(later, 2);
    const state::Commands went = window.take_commands();
    EXPECT_EQ(HeadlessWindow::find<state::SelectStep>(went), nullptr) << "once";
    EXPECT_EQ(HeadlessWindow::find<state::CopySettings>(went), nullptr);
    return HeadlessWindow::find<state::SetKnob>(went) != nullptr;
  };
  EXPECT_FALSE(went_with(snapshot));
  state::Snapshot told = snapshot;
  told.knobs.told = {trace::job::find_knob("bucket_cap_mb")};
  EXPECT_TRUE(went_with(told));
  state::Snapshot refused = snapshot;
  state::PredictionView view{.folder = run.figures.info.folder, .ordinal = "run 4"};
  view.refused = "It tells nothing.";
  refused.prediction = std::make_shared<const state::PredictionView>(view);
  EXPECT_TRUE(went_with(refused));
}

TEST(MainView, CopiesWhichRunsItCompares) {
  state::Snapshot snapshot = sample_snapshot();
  state::ComparisonView view;
  for (const char* name : {"a, b", "c"}) {
    state::ComparedRun& run = view.runs.emplace_back();
    run.folder = std::string("runs/") + name;
    run.name = name;
  }
  view.differences.resize(1);
  snapshot.comparison = std::make_shared<const state::ComparisonView>(view);
  HeadlessWindow window(1600, 1000);
  state::ViewAddress compared;
  compared.workspace = state::kCompareWorkspace;
  compared.run = "a, b";
  compared.others = {"c"};
  window.view().go_to(compared);
  ASSERT_TRUE(window.view().compares());
  const state::Commands commands = commanded(window, snapshot, "copy this view");
  const auto* copied = HeadlessWindow::find<state::CopyText>(commands);
  ASSERT_NE(copied, nullptr);
  EXPECT_EQ(state::parse_address(copied->text), compared) << copied->text;
}

TEST(MainView, ComparisonsMakeWayForARunThatIsAskedFor) {
  const state::Snapshot snapshot = sample_snapshot({.live = false});
  state::ViewPreferences preferences;
  preferences.workspace = state::kCompareWorkspace;
  for (const char* text : {"open ./trace.json", "replay this run", "open run"}) {
    HeadlessWindow window(1600, 1000, preferences);
    EXPECT_FALSE(commanded(window, snapshot, text).empty()) << text;
    EXPECT_FALSE(window.view().compares()) << text;
  }
  HeadlessWindow window(1600, 1000, preferences);
  commanded(window, snapshot, "copy this view");
  EXPECT_TRUE(window.view().compares());
}

TEST(MainView, CopiesTheStepOfARunThatWasFollowedToItsEndOrIsReplayed) {
  const auto copied_step = [](bool is_live, bool replays) {
    state::Snapshot snapshot = sample_snapshot();
    auto& run = own_copy(snapshot.run);
    run.follows_live = true;
    run.is_live = is_live;
    run.selected_step = 7;
    snapshot.replay.active = replays;
    HeadlessWindow window(1600, 1000);
    const state::Commands commands = commanded(window, snapshot, "copy this view");
    const auto* copied = HeadlessWindow::find<state::CopyText>(commands);
    return copied == nullptr ? -2 : state::parse_address(copied->text)->step;
  };
  EXPECT_EQ(copied_step(false, false), 7);
  EXPECT_EQ(copied_step(true, true), 7) << "whoever opens it replays nothing";
  EXPECT_EQ(copied_step(true, false), -1) << "the latest";
}

}  // namespace
}  // namespace shardlens::ui::window
