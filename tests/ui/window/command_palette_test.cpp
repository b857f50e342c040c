// The command palette in a window: what it offers, and what its entries do.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/own_copy.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "tests/ui/window/commanded.h"
#include "ui/state/view_preferences.h"

namespace shardlens::ui::window {
namespace {

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

}  // namespace
}  // namespace shardlens::ui::window
