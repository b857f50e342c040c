// What the window shows, where something happens and where nothing does, and while it presents.
#include "ui/window/main_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/own_copy.h"
#include "tests/ui/testing/probe_texts.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "tests/ui/window/commanded.h"
#include "ui/state/view_preferences.h"

namespace shardlens::ui::window {
namespace {

TEST(MainView, OffersAReplayWhereNothingIsToBeSeenButNotWhileARunStarts) {
  state::Snapshot snapshot = sample_snapshot();
  snapshot.run = nullptr;
  snapshot.job = {};
  HeadlessWindow window(1280, 800);
  window.frames(snapshot, 3);
  EXPECT_NE(window.probe().find("empty/replay"), nullptr);
  snapshot.job.phase = state::JobPhase::kStarting;
  window.frames(snapshot, 3);
  EXPECT_EQ(window.probe().find("empty/replay"), nullptr);
}

TEST(MainView, AViewerIsNotToldToStartARun) {
  state::Snapshot snapshot = empty_snapshot();
  snapshot.ledger = nullptr;
  HeadlessWindow window(1280, 800);
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("Start a run"));
  EXPECT_NE(window.probe().find("empty/start"), nullptr);
  snapshot.trainer.state = state::TrainerSetup::State::kNotWanted;
  window.frames(snapshot, 3);
  for (const char* text : {"Start a run", "Start one", "Press Start"})
    EXPECT_FALSE(window.probe().shows(text)) << text;
  EXPECT_EQ(window.probe().find("empty/start"), nullptr);
  EXPECT_TRUE(window.probe().shows("Import a trace"));
  EXPECT_EQ(overlapping_texts_of(window.probe()), std::vector<std::string>{});
}

TEST(MainView, TheLedgerShowsTheRowOfTheRunOnScreen) {
  state::Snapshot snapshot = sample_snapshot({.live = false});
  auto& ledger = own_copy(snapshot.ledger);
  state::LedgerRow row = ledger.rows.back();
  for (state::LedgerRow& each : ledger.rows) each.is_shown = false;
  row.is_shown = row.is_baseline = false;
  for (int i = 0; i < 40; ++i) {
    row.folder = row.name = "older " + std::to_string(i);
    ledger.rows.push_back(row);
  }
  ledger.rows[30].is_shown = true;
  const std::string name = ledger.rows[30].name;
  HeadlessWindow window(1280, 720);
  window.frames(snapshot, 4);
  EXPECT_TRUE(window.probe().shows(name));
  EXPECT_FALSE(window.probe().shows("older 0"));
}

// Nobody knows how many steps another program's run will have.
TEST(MainView, DoesNotSayThatARunHasEndedWhichGoesOn) {
  state::Snapshot snapshot = sample_snapshot();
  snapshot.job = {};
  const auto says_the_end = [&](HeadlessWindow& window) {
    window.frames(snapshot, 3);
    for (const auto& text : std::vector(window.probe().texts)) {
      const bool is_progress =
          text.rect.y < 60 && (text.text.starts_with("step ") || text.text == "done");
      if (!is_progress) continue;
      window.move_to(snapshot, text.rect.center_x(), text.rect.center_y());
      return window.probe().shows("How the run ended");
    }
    ADD_FAILURE() << "no progress";
    return true;
  };
  auto& run = own_copy(snapshot.run);
  run.is_live = true;
  run.figures.info.status = trace::model::RunStatus::kRunning;
  run.figures.info.settings.epochs = 2;
  HeadlessWindow window(1600, 1000);
  EXPECT_FALSE(says_the_end(window));
  run.is_live = false;
  run.figures.info.status = trace::model::RunStatus::kDone;
  EXPECT_TRUE(says_the_end(window));
}

TEST(MainView, WaitsForNoStepOfARunThatHasEnded) {
  state::Snapshot snapshot = sample_snapshot({.steps = 0, .live = false});
  snapshot.job.phase = state::JobPhase::kRunning;  // another one
  HeadlessWindow window(1600, 1000);
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("No step was recorded"));
  EXPECT_FALSE(window.probe().shows("The first step appears in a moment"));
  auto& run = own_copy(snapshot.run);
  run.is_live = true;
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("The first step appears in a moment"));
}

TEST(MainView, PromisesNoStepOfARunThatFailedBeforeTheFirst) {
  state::Snapshot snapshot = failed_snapshot();
  auto& run = own_copy(snapshot.run);
  run.figures.steps.clear();
  run.selected_step = -1;
  HeadlessWindow window(1600, 1000);
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("Step time"));
  EXPECT_TRUE(window.probe().shows("No step was recorded"));
  EXPECT_FALSE(window.probe().shows("appear here"));
}

TEST(MainView, ALegendOfStepTimesNamesTheColoursThatAreThere) {
  state::Snapshot snapshot = sample_snapshot({.live = false});
  HeadlessWindow window(1600, 1000);
  const auto names = [&](const char* name) {
    window.frames(snapshot, 3);
    const auto& texts = window.probe().texts;
    return std::ranges::find(texts, name, &kit::DrawProbe::Text::text) != texts.end();
  };
  EXPECT_TRUE(names("Exposed communication"));
  EXPECT_FALSE(names("Without detail"));
  for (auto& step : own_copy(snapshot.run).figures.steps) {
    for (auto& rank : step.ranks) rank.has_detail = false;
  }
  EXPECT_FALSE(names("Exposed communication"));
  EXPECT_TRUE(names("Without detail"));
}

TEST(MainView, StepTimesHaveAScaleHoweverLowTheirChart) {
  for (const double longest_ms : {95.0, 105.0, 120.0, 150.0, 190.0, 205.0, 260.0, 330.0, 390.0}) {
    state::Snapshot snapshot = sample_snapshot({.steps = 20, .live = false});
    auto& steps = own_copy(snapshot.run).figures.steps;
    for (auto& step : steps) {
      for (auto& rank : step.ranks) {
        rank.has_detail = false;
        rank.step_ns = static_cast<std::int64_t>(longest_ms * 1e6);
      }
    }
    snapshot.ledger = nullptr;
    HeadlessWindow window(1280, 720);
    window.frames(snapshot, 3);
    const auto& texts = window.probe().texts;
    const auto zero = std::ranges::find(texts, "0 ms", &kit::DrawProbe::Text::text);
    ASSERT_NE(zero, texts.end()) << longest_ms;
    EXPECT_TRUE(std::ranges::any_of(texts, [&](const auto& text) {
      const bool is_above = text.rect.bottom() < zero->rect.y && text.rect.y > zero->rect.y - 100;
      return is_above && std::abs(text.rect.right() - zero->rect.right()) < 2;
    })) << longest_ms;
  }
}

TEST(MainView, SaysInFullWhyARunIsNotCompared) {
  state::Snapshot snapshot = sample_snapshot({.live = false});
  for (auto& row : own_copy(snapshot.ledger).rows) {
    row.per_token = false;
    if (!row.is_baseline) row.not_compared = "machine not known";
  }
  HeadlessWindow window(1600, 1000);
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("machine not known"));
}

TEST(MainView, SaysThatRunsAreBeingReadUntilTheyAre) {
  state::Snapshot snapshot = empty_snapshot();
  HeadlessWindow window(1600, 1000);
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("No run yet"));
  snapshot.is_loading = true;
  window.frames(snapshot, 3);
  EXPECT_FALSE(window.probe().shows("No run yet"));
  EXPECT_TRUE(window.probe().shows("Reading the runs…"));
}

TEST(MainView, FollowNamesSpaceWhereItFollows) {
  for (const bool replays : {false, true}) {
    state::Snapshot snapshot = sample_snapshot();
    snapshot.replay.active = replays;
    HeadlessWindow window(1600, 1000);
    window.frames(snapshot, 3);
    const auto* follow = window.probe().find("timeline/follow");
    ASSERT_NE(follow, nullptr);
    window.move_to(snapshot, follow->rect.center_x(), follow->rect.center_y());
    window.frames(snapshot, 60);
    EXPECT_TRUE(window.probe().shows("Always shows the latest step"));
    EXPECT_EQ(window.probe().shows("Space"), !replays);
  }
}

TEST(MainView, HelpInCompareListsKeysThatWorkThere) {
  state::ViewPreferences preferences;
  preferences.workspace = state::kCompareWorkspace;
  HeadlessWindow window(1600, 1000, preferences);
  const state::Snapshot snapshot = sample_snapshot();
  window.frames(snapshot, 2);
  window.type(snapshot, "?");
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.probe().shows("Previous and next step of all runs"));
  EXPECT_FALSE(window.probe().shows("Follow live"));
}

TEST(MainView, ShowsTheReasonOfAFailure) {
  HeadlessWindow window(1280, 720);
  window.frames(failed_snapshot(), 3);
  EXPECT_TRUE(window.probe().shows("out of memory"));
  EXPECT_TRUE(window.probe().shows("Rank 0 waits"));
}

TEST(MainView, HidesAFailureOnceItWasRead) {
  HeadlessWindow window(1280, 720);
  const state::Snapshot snapshot = failed_snapshot();
  ASSERT_TRUE(window.click(snapshot, "failure/hide"));
  EXPECT_FALSE(window.probe().shows("The run failed"));
  EXPECT_TRUE(window.probe().shows("Timeline · step"));
}

TEST(MainView, SleepsOnceNothingChanges) {
  HeadlessWindow window(1280, 720);
  state::Snapshot snapshot = sample_snapshot();
  window.frames(snapshot, 12);
  EXPECT_FALSE(window.view().wants_redraw());
  ++snapshot.version;
  window.frame(snapshot);
  EXPECT_TRUE(window.view().wants_redraw());
}

TEST(MainView, GoesToPresentModeAndChangesScaleByKeys) {
  HeadlessWindow window(1920, 1200);
  const state::Snapshot snapshot = sample_snapshot();
  window.frame(snapshot);
  window.press(snapshot, kit::Key::kEqual, true);
  EXPECT_FLOAT_EQ(window.view().preferences().scale, 1.125f);
  window.press(snapshot, kit::Key::kZero, true);
  EXPECT_FLOAT_EQ(window.view().preferences().scale, 1);
  window.press(snapshot, kit::Key::kF11);
  EXPECT_TRUE(window.view().preferences().present_mode);
  window.frames(snapshot, 2);
  EXPECT_FALSE(window.probe().shows("Settings for the next run"));
  EXPECT_TRUE(window.probe().shows("F11"));
}

TEST(MainView, ChangesNoThemeWhilePresentingWhichIsLight) {
  HeadlessWindow window(1920, 1200);
  const state::Snapshot snapshot = sample_snapshot();
  window.frames(snapshot, 3);
  const state::ThemeKind before = window.view().preferences().theme;
  EXPECT_NE(window.probe().find("top/theme"), nullptr);
  window.press(snapshot, kit::Key::kF11);
  window.frames(snapshot, 2);
  EXPECT_EQ(window.probe().find("top/theme"), nullptr);
  window.press(snapshot, kit::Key::kT, true);
  EXPECT_EQ(window.view().preferences().theme, before);
  window.press(snapshot, kit::Key::kF11);
  window.press(snapshot, kit::Key::kT, true);
  EXPECT_NE(window.view().preferences().theme, before);
}

TEST(MainView, KeepsAllPanelsWhenPresentingOnASmallProjector) {
  state::ViewPreferences preferences;
  preferences.scale = 1.5f;
  preferences.present_mode = true;
  HeadlessWindow window(1280, 720, preferences);
  window.frames(sample_snapshot(), 3);
  for (const char* text : {"Step", "Exposed", "Compute", "Ribbon", "Timeline · step"})
    EXPECT_TRUE(window.probe().shows(text)) << text;
  EXPECT_EQ(overlapping_texts_of(window.probe()), std::vector<std::string>{});
}

TEST(MainView, SettingsAreReachedWhilePresenting) {
  const state::Snapshot snapshot = sample_snapshot();
  state::ViewPreferences preferences;
  preferences.present_mode = true;
  HeadlessWindow window(1920, 1200, preferences);
  window.frames(snapshot, 3);
  ASSERT_EQ(window.probe().find("knob/bucket_cap_mb"), nullptr);
  commanded(window, snapshot, "bucket cap");
  EXPECT_NE(window.probe().find("knob/bucket_cap_mb"), nullptr);
  window.press(snapshot, kit::Key::kB, true);
  window.frames(snapshot, 2);
  EXPECT_EQ(window.probe().find("knob/bucket_cap_mb"), nullptr) << "folded again";
  window.press(snapshot, kit::Key::kF11);
  window.frames(snapshot, 3);
  EXPECT_NE(window.probe().find("knob/bucket_cap_mb"), nullptr) << "as it was before";
}

TEST(MainView, APresentationUnfoldsWhatIsAskedForAndLeavesNothingOfItBehind) {
  const state::Snapshot snapshot = sample_snapshot();
  state::ViewPreferences preferences;
  preferences.folds.dock = true;
  HeadlessWindow window(1920, 1200, preferences);
  window.frames(snapshot, 3);
  window.press(snapshot, kit::Key::kF11);
  commanded(window, snapshot, "Show the log");
  commanded(window, snapshot, "bucket cap");
  EXPECT_TRUE(window.probe().shows("buckets rebuilt"));
  EXPECT_NE(window.probe().find("knob/bucket_cap_mb"), nullptr);
  window.press(snapshot, kit::Key::kF11);
  window.frames(snapshot, 3);
  EXPECT_FALSE(window.probe().shows("buckets rebuilt"));
  EXPECT_EQ(window.view().preferences(), preferences);
  window.press(snapshot, kit::Key::kF11);
  window.frames(snapshot, 3);
  EXPECT_FALSE(window.probe().shows("buckets rebuilt"));
  EXPECT_EQ(window.probe().find("knob/bucket_cap_mb"), nullptr) << "the next one begins folded";
}

}  // namespace
}  // namespace shardlens::ui::window
