// The window without a display: it draws every state, and texts keep apart.
#include "ui/window/main_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/own_copy.h"
#include "tests/ui/testing/probe_texts.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "ui/state/comparison_view.h"
#include "ui/tune/layout.h"

namespace shardlens::ui::window {

namespace {

state::Snapshot snapshot_of(int state) {
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
    case 5:
      return replay_snapshot();
    case 6:
      return plan_snapshot();
    case 7:
      return plan_snapshot("llama-8b");
    default:
      return plan_snapshot("llama-70b", trace::job::Strategy::kFullShard, true);
  }
}

TEST(OverlappingTexts, AreFound) {
  kit::DrawProbe probe;
  const state::Rect window{0, 0, 100, 100};
  probe.texts.push_back({"one", {10, 10, 30, 9}, window, 0});
  probe.texts.push_back({"two", {35, 12, 30, 9}, window, 0});
  EXPECT_EQ(overlapping_texts_of(probe).size(), 1u);
  probe.texts[1].layer = 1;
  EXPECT_TRUE(overlapping_texts_of(probe).empty());
}

using WindowCase = std::tuple<std::pair<int, int>, float, int>;
class WindowTest : public ::testing::TestWithParam<WindowCase> {};

// Of what is the window's own, not named by a run: names of runs, operators and notes of buckets
// may be longer than any window. What ends with the sign by itself is not cut.
bool must_be_whole(const kit::DrawProbe::Text& text, bool has_plan, float scale) {
  if (text.rect.y < tune::kTopBarHeight * scale) return true;
  const bool own = has_plan ? text.layer >= 10 : text.rect.right() < 320 * scale;
  return own && text.text != "Plan…" && text.text != "Sweep…" && text.text != "Search…";
}

// In one theme: it gives nothing but colours.
TEST_P(WindowTest, DrawsEveryStateWithTextsApartAndWhole) {
  const auto& [size, scale, state] = GetParam();
  state::ViewPreferences preferences;
  preferences.scale = scale;
  HeadlessWindow window(size.first, size.second, preferences);
  const state::Snapshot snapshot = snapshot_of(state);
  window.frames(snapshot, 3);
  const bool has_plan = snapshot.plan != nullptr;
  EXPECT_EQ(overlapping_texts_of(window.probe()), std::vector<std::string>{});
  EXPECT_GT(window.probe().texts.size(), 20u);
  for (const auto& text : window.probe().texts) {
    if (must_be_whole(text, has_plan, scale)) {
      EXPECT_FALSE(text.text.ends_with("…")) << text.text;
    }
    if (has_plan && text.layer >= 10) {
      EXPECT_LE(text.rect.right(), static_cast<float>(size.first)) << text.text;
      EXPECT_LE(text.rect.bottom(), static_cast<float>(size.second)) << text.text;
    }
  }
  const bool has_run = state == 0 || state == 1 || state == 3 || state >= 5;
  for (const char* text : {"Shardlens", "Settings for the next run"})
    EXPECT_TRUE(window.probe().shows(text)) << text;
  if (!has_run) return;
  for (const char* text : {"Step", "Exposed", "Step time"}) {
    EXPECT_TRUE(window.probe().shows(text)) << text;
  }
  EXPECT_TRUE(window.probe().shows(state == 3 ? "The run failed" : "Timeline · step"));
}

TEST(TopBar, KeepsStartAndStopInOnePlaceWhateverIsToldBesideThem) {
  for (const int width : {1000, 1280, 1920}) {
    HeadlessWindow window(width, 800);
    const auto place_of = [&](const state::Snapshot& snapshot, const char* button) {
      window.frames(snapshot, 3);
      const state::Rect& rect = window.probe().find(button)->rect;
      return std::pair(rect.x, rect.right());
    };
    state::Snapshot snapshot = sample_snapshot();
    const auto stop = place_of(snapshot, "top/stop");
    snapshot.job.phase = state::JobPhase::kStopping;
    EXPECT_EQ(place_of(snapshot, "top/stop"), stop);
    EXPECT_TRUE(window.probe().shows("Stop now"));
    snapshot.job.phase = state::JobPhase::kStarting;
    snapshot.run = nullptr;  // no name, no figures
    EXPECT_EQ(place_of(snapshot, "top/stop"), stop);
    EXPECT_EQ(place_of(empty_snapshot(), "top/start"), stop);
  }
}

TEST(Messages, AreNeverCut) {
  const std::vector<std::string> notes{
      "Incomplete: the file of rank 3 cannot be read. Figures are those of the ranks that are left",
      "CPU run: shows how it works, not how fast a GPU is",
      "Simulated link of 50 µs and 1 Gbit/s: communication takes as long as it would there",
      "Simulated without overlap: communication waits for the backward pass"};
  for (const int width : {800, 1280, 1920}) {
    HeadlessWindow window(width, 800);
    state::Snapshot snapshot = sample_snapshot();
    auto& run = own_copy(snapshot.run);
    run.banners = notes;
    snapshot.notice = notes[0] + ". " + notes[1] + ". " + notes[2] + ". " + notes[3];
    snapshot.notice_is_error = true;
    window.frames(snapshot, 3);
    const state::Rect panels = window.probe().find("knob/model")->rect;
    std::string shown;
    for (const auto& text : window.probe().texts) {
      if (text.rect.y < tune::kTopBarHeight || text.rect.bottom() > panels.y) continue;
      EXPECT_FALSE(text.text.ends_with("…")) << text.text;
      EXPECT_LE(text.rect.right(), static_cast<float>(width)) << text.text;
      shown += text.text + " ";
    }
    for (const std::string& note : notes) {
      EXPECT_NE(shown.find(note), std::string::npos) << width << ": " << note << " in " << shown;
    }
    EXPECT_EQ(overlapping_texts_of(window.probe()), std::vector<std::string>{});
  }
}

// A recorded run whose exposed time is partly waiting needs the most words.
TEST(TopBar, TellsThePeakMemoryOfALiveAndOfARecordedRunInEveryWindow) {
  for (const int width : {1280, 1600, 1920}) {
    for (const bool live : {true, false}) {
      state::Snapshot snapshot = sample_snapshot({.live = live});
      auto run = std::make_shared<state::RunView>(*snapshot.run);
      run->figures.summary.exposed_wait_ns = 3.27e6;
      snapshot.run = run;
      HeadlessWindow window(width, 800);
      window.frames(snapshot, 3);
      EXPECT_TRUE(window.probe().shows("Peak memory")) << width << (live ? ", live" : "");
      EXPECT_TRUE(window.probe().shows("3.27 ms waiting")) << width << (live ? ", live" : "");
      run = std::make_shared<state::RunView>(*snapshot.run);
      run->figures.summary.step_ns.mean = 1460.3e6;  // as wide as figures get
      run->figures.summary.exposed_ns = 1142.9e6;
      run->figures.summary.exposed_wait_ns = 1103.6e6;
      snapshot.run = run;
      window.frames(snapshot, 3);
      EXPECT_TRUE(window.probe().shows("Peak memory")) << width << (live ? ", live" : "");
    }
  }
}

TEST(Help, IsNeverCut) {
  for (const char* workspace :
       {state::kTuneWorkspace, state::kInspectWorkspace, state::kCompareWorkspace}) {
    for (const bool presents : {false, true}) {
      for (const auto& [width, height] : {std::pair{1000, 720}, {1280, 800}, {1600, 1000}}) {
        state::ViewPreferences preferences;
        preferences.workspace = workspace;
        preferences.present_mode = presents;
        HeadlessWindow window(width, height, preferences);
        const state::Snapshot snapshot = sample_snapshot();
        window.frames(snapshot, 3);
        window.type(snapshot, "?");
        window.frames(snapshot, 3);
        EXPECT_TRUE(window.probe().shows("These keys"));
        for (const auto& text : window.probe().texts) {
          if (text.layer < 10) continue;
          EXPECT_FALSE(text.text.ends_with("…")) << width << ": " << text.text;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, WindowTest,
    ::testing::Combine(::testing::Values(std::pair{1280, 720}, std::pair{1280, 800},
                                         std::pair{1600, 1000}, std::pair{1920, 1200}),
                       ::testing::Values(1.0f, 1.5f), ::testing::Range(0, 9)));

TEST(MainView, ShowsARunsWholeNameRatherThanThatItIsSimulated) {
  state::Snapshot snapshot = sample_snapshot();
  auto& ledger = own_copy(snapshot.ledger);
  for (state::LedgerRow& row : ledger.rows) {
    row.name = "slow link, cap 1";
    row.simulated = true;
    row.settings.inject = "rank=1,step=4,phase=forward,every=1,delay_ms=" + row.ordinal;
  }
  HeadlessWindow window(1280, 800);
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("1 · slow link, cap 1"));
}

TEST(MainView, ShowsADifferencePerTokenUncut) {
  state::Snapshot snapshot = sample_snapshot({.live = false});
  auto& ledger = own_copy(snapshot.ledger);
  for (state::LedgerRow& row : ledger.rows) {
    row.is_baseline = false;
    row.not_compared.clear();
    row.relative_to_baseline = 1.276;
    row.per_token = true;
    row.beyond_noise.reset();
  }
  for (const int width : {1280, 1920}) {
    HeadlessWindow window(width, 1200);
    window.frames(snapshot, 3);
    EXPECT_TRUE(window.probe().shows("+127.6 % per token")) << width;
  }
}

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

TEST(MainView, SaysHowARunEndedInFullAtAnyScale) {
  const state::Snapshot snapshot = sample_snapshot({.live = false, .gpu = true});
  for (float scale = 1; scale <= 1.5f; scale += 0.125f) {
    state::ViewPreferences preferences;
    preferences.scale = scale;
    HeadlessWindow window(1280, 720, preferences);
    window.frames(snapshot, 3);
    EXPECT_TRUE(window.probe().shows("done")) << scale;
  }
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

TEST(MainView, WritesTheSizesOfBucketsAsTheirRowHasRoom) {
  SampleOptions gpu;
  gpu.gpu = true;
  const state::Snapshot snapshot = sample_snapshot(gpu);  // eleven buckets of 27 MiB
  HeadlessWindow window(1600, 1000);
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("Buckets, MiB"));
  EXPECT_TRUE(window.probe().shows("27.0"));
  EXPECT_FALSE(window.probe().shows("27.0 MiB"));
  window.resize(6000, 1000);
  window.frames(snapshot, 3);
  EXPECT_TRUE(window.probe().shows("27.0 MiB"));
  EXPECT_FALSE(window.probe().shows("Buckets, MiB"));
}

// Types into the command palette and takes its first entry.
state::Commands commanded(HeadlessWindow& window, const state::Snapshot& snapshot,
                          std::string_view text) {
  window.frames(snapshot, 3);
  window.take_commands();
  window.press(snapshot, kit::Key::kK, true);
  window.frames(snapshot, 2);
  window.type(snapshot, text);
  window.frames(snapshot, 2);
  window.press(snapshot, kit::Key::kEnter);
  window.frames(snapshot, 2);
  return window.take_commands();
}

TEST(MainView, ThePaletteTakesWhatWasWrittenBeforeWhatContainsIt) {
  for (const state::Snapshot& snapshot : {sample_snapshot(), empty_snapshot(), replay_snapshot()}) {
    HeadlessWindow window(1600, 1000);
    EXPECT_EQ(HeadlessWindow::find<state::StartRun>(commanded(window, snapshot, "scale")), nullptr);
    EXPECT_NE(window.view().preferences().scale, 1.0f);
    const state::ThemeKind before = window.view().preferences().theme;
    EXPECT_EQ(HeadlessWindow::find<state::StartRun>(commanded(window, snapshot, "theme")), nullptr);
    EXPECT_NE(window.view().preferences().theme, before);
  }
}

TEST(MainView, ThePaletteOpensImportsAndExports) {
  const state::Snapshot snapshot = sample_snapshot();
  HeadlessWindow window(1600, 1000);
  auto commands = commanded(window, snapshot, "open /data/rank0.json.gz");
  const auto* open = HeadlessWindow::find<state::OpenFiles>(commands);
  ASSERT_NE(open, nullptr);
  EXPECT_EQ(open->paths, std::vector<std::string>{"/data/rank0.json.gz"});
  // The command goes on with the path.
  commanded(window, snapshot, "import");
  window.type(snapshot, "./a.json");
  window.frames(snapshot, 2);
  window.press(snapshot, kit::Key::kEnter);
  commands = window.take_commands();
  open = HeadlessWindow::find<state::OpenFiles>(commands);
  ASSERT_NE(open, nullptr);
  EXPECT_EQ(open->paths, std::vector<std::string>{"./a.json"});
  commands = commanded(window, snapshot, "export");
  const auto* pack = HeadlessWindow::find<state::ExportRun>(commands);
  ASSERT_NE(pack, nullptr);
  EXPECT_EQ(pack->folder, snapshot.run->figures.info.folder);
  EXPECT_FALSE(pack->as_trace);
  commands = commanded(window, snapshot, "perfetto");
  const auto* trace = HeadlessWindow::find<state::ExportRun>(commands);
  ASSERT_NE(trace, nullptr);
  EXPECT_TRUE(trace->as_trace);
}

TEST(MainView, ThePaletteCopiesTheNextRunsSettings) {
  HeadlessWindow window(1600, 1000);
  const auto commands = commanded(window, sample_snapshot(), "copy the next");
  const auto* copied = HeadlessWindow::find<state::CopySettingsAs>(commands);
  ASSERT_NE(copied, nullptr);
  EXPECT_EQ(copied->folder, "");
  EXPECT_EQ(copied->format, "pytorch");
}

TEST(MainView, ThePaletteUnfoldsWhatItShowsInTheDock) {
  const state::Snapshot snapshot = sample_snapshot();
  for (const bool is_low : {false, true}) {
    state::ViewPreferences preferences;
    preferences.folds.dock = !is_low;
    HeadlessWindow window(1600, is_low ? 600 : 1000, preferences);
    window.frames(snapshot, 3);
    ASSERT_FALSE(window.probe().shows("buckets rebuilt"));
    commanded(window, snapshot, "Show the log");
    EXPECT_TRUE(window.probe().shows("buckets rebuilt")) << (is_low ? "low" : "high");
  }
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

TEST(MainView, OffersNoAddressOfWhatComparesRuns) {
  const state::Snapshot snapshot = sample_snapshot();
  state::ViewPreferences preferences;
  preferences.workspace = state::kCompareWorkspace;
  HeadlessWindow window(1600, 1000, preferences);
  const auto commands = commanded(window, snapshot, "copy this view");
  EXPECT_EQ(HeadlessWindow::find<state::CopyText>(commands), nullptr);
}

TEST(MainView, ThePaletteOffersSpaceForWhatItDoes) {
  for (const state::Snapshot& snapshot : {sample_snapshot(), replay_snapshot()}) {
    HeadlessWindow window(1600, 1000);
    window.frames(snapshot, 2);
    window.press(snapshot, kit::Key::kK, true);
    window.frames(snapshot, 2);
    window.type(snapshot, "follow the latest step");
    window.frames(snapshot, 2);
    ASSERT_TRUE(window.probe().shows("Follow the latest step"));
    const auto shows_space = [&](const auto& text) { return text.text == "Space"; };
    EXPECT_EQ(std::ranges::any_of(window.probe().texts, shows_space), !snapshot.replay.active);
  }
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

TEST(MainView, ThePaletteTakesADeletionBack) {
  state::Snapshot snapshot = sample_snapshot();
  HeadlessWindow window(1600, 1000);
  EXPECT_EQ(HeadlessWindow::find<state::UndoDelete>(commanded(window, snapshot, "undo")), nullptr)
      << "nothing was deleted";
  window.press(snapshot, kit::Key::kEscape);
  auto& ledger = own_copy(snapshot.ledger);
  ledger.deleted = 2;
  const auto commands = commanded(window, snapshot, "undo");
  EXPECT_NE(HeadlessWindow::find<state::UndoDelete>(commands), nullptr);
}

TEST(MainView, ThePaletteSaysThatNothingMatches) {
  const state::Snapshot snapshot = sample_snapshot();
  HeadlessWindow window(1600, 1000);
  commanded(window, snapshot, "zzqq");
  EXPECT_TRUE(window.probe().shows("No command and no setting matches “zzqq”"));
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

TEST(MainView, SleepsOnceNothingChanges) {
  HeadlessWindow window(1280, 720);
  state::Snapshot snapshot = sample_snapshot();
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
  const state::Snapshot snapshot = failed_snapshot();
  ASSERT_TRUE(window.click(snapshot, "failure/hide"));
  EXPECT_FALSE(window.probe().shows("The run failed"));
  EXPECT_TRUE(window.probe().shows("Timeline · step"));
}

TEST(MainView, SurvivesTinyAndChangingWindows) {
  HeadlessWindow window(1280, 720);
  const state::Snapshot snapshot = replay_snapshot();
  for (const auto& [width, height] : {std::pair{200, 120}, {1, 1}, {3840, 2160}, {400, 2000}}) {
    window.resize(width, height);
    window.frames(snapshot, 2);
  }
  EXPECT_GT(window.probe().texts.size(), 10u);
}

}  // namespace

}  // namespace shardlens::ui::window
