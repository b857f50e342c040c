// Tab and arrows reach every control of the window, Enter is its click.
#include "ui/kit/focus_ring.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/own_copy.h"
#include "tests/ui/testing/sample_snapshot.h"

namespace shardlens::ui::kit {

namespace {

// What the mouse alone can use.
const std::set<std::string> kOfTheMouse{"inspect/axis",           "steps/plot",   "learning/loss",
                                        "learning/Learning rate", "inspect/plot", "inspect/minimap",
                                        "inspect/splitter",       "memory/plot"};

class FocusRingTest : public ::testing::Test {
 protected:
  HeadlessWindow window_{1600, 1000};
  state::Snapshot snapshot_ = sample_snapshot();

  const std::string& focused() { return window_.view().focus().name(); }
  bool is_visible() { return window_.view().focus().is_visible(); }
  void go_to(std::string_view name) {
    for (int i = 0; i < 400 && !(is_visible() && focused() == name); ++i) {
      window_.press(snapshot_, Key::kTab);
    }
  }
};

TEST_F(FocusRingTest, TabReachesEveryControl) {
  window_.frames(snapshot_, 3);
  std::set<std::string> wanted, reached;
  for (const auto& target : window_.probe().targets) {
    if (!kOfTheMouse.contains(target.name)) wanted.insert(target.name);
  }
  ASSERT_GT(wanted.size(), 30u);
  // Settings that have to be scrolled to come beside those that were in sight.
  for (std::size_t i = 0; i < 4 * wanted.size(); ++i) {
    window_.press(snapshot_, Key::kTab);
    reached.insert(focused());
  }
  for (const auto& name : wanted) EXPECT_TRUE(reached.contains(name)) << name;
}

TEST_F(FocusRingTest, EnterIsAClick) {
  window_.frames(snapshot_, 3);
  go_to("top/stop");
  window_.take_commands();
  window_.press(snapshot_, Key::kEnter);
  EXPECT_NE(HeadlessWindow::find<state::StopRun>(window_.take_commands()), nullptr);
}

// A later moment of a replay is reached in no other way.
TEST_F(FocusRingTest, ArrowsMoveASliderAndLeaveItUpAndDown) {
  snapshot_ = replay_snapshot();
  window_.frames(snapshot_, 3);
  go_to("replay/scrubber");
  const auto& replay = snapshot_.replay;
  const double span = static_cast<double>(replay.end_ns - replay.start_ns);
  for (const auto& [key, direction] : {std::pair{Key::kRight, 1}, std::pair{Key::kLeft, -1}}) {
    window_.take_commands();
    window_.press(snapshot_, key);
    const auto commands = window_.take_commands();
    const auto* seek = HeadlessWindow::find<state::SeekReplay>(commands);
    ASSERT_NE(seek, nullptr);
    EXPECT_NEAR(static_cast<double>(seek->time_ns - replay.now_ns), direction * 0.02 * span,
                0.001 * span);
    EXPECT_EQ(HeadlessWindow::find<state::SelectStep>(commands), nullptr);
    EXPECT_EQ(focused(), "replay/scrubber");
  }
  window_.press(snapshot_, Key::kDown);
  EXPECT_NE(focused(), "replay/scrubber");
}

// Wherever whole numbers are further apart than a key moves a slider.
TEST_F(FocusRingTest, AnArrowGoesToTheNextValueOfASetting) {
  snapshot_.knobs.next.batch_per_rank = 1;
  window_.frames(snapshot_, 3);
  go_to("slider/batch_per_rank");
  window_.take_commands();
  window_.press(snapshot_, Key::kRight);
  const auto set = window_.take<state::SetKnob>();
  ASSERT_TRUE(set);
  EXPECT_EQ(set->text, "2");
}

TEST_F(FocusRingTest, ArrowsGoFromRowToRowOfTheLedger) {
  window_.frames(snapshot_, 3);
  const auto& rows = snapshot_.ledger->rows;
  ASSERT_GT(rows.size(), 2u);
  go_to("ledger/" + rows[0].folder);
  window_.press(snapshot_, Key::kDown);
  EXPECT_EQ(focused(), "ledger/" + rows[1].folder);
  window_.press(snapshot_, Key::kUp);
  EXPECT_EQ(focused(), "ledger/" + rows[0].folder);
}

TEST_F(FocusRingTest, ArrowsReachRowsThatHaveToBeScrolledTo) {
  auto& ledger = own_copy(snapshot_.ledger);
  for (int i = 0; i < 60; ++i) {
    ledger.rows.push_back(ledger.rows.back());
    ledger.rows.back().folder = "runs/older " + std::to_string(i);
  }
  window_.frames(snapshot_, 3);
  go_to("ledger/" + ledger.rows[0].folder);
  for (std::size_t i = 1; i < ledger.rows.size(); ++i) {
    window_.press(snapshot_, Key::kDown);
    ASSERT_EQ(focused(), "ledger/" + ledger.rows[i].folder);
  }
  for (std::size_t i = ledger.rows.size() - 1; i-- > 0;) {
    window_.press(snapshot_, Key::kUp);
    ASSERT_EQ(focused(), "ledger/" + ledger.rows[i].folder);
  }
}

// A run is renamed, noted and deleted without a mouse.
TEST_F(FocusRingTest, OpensTheMenuOfARow) {
  window_.frames(snapshot_, 3);
  const auto& run = snapshot_.ledger->rows[1];
  for (const bool by_menu_key : {true, false}) {
    go_to("ledger/" + run.folder);
    const state::Rect row = window_.probe().find("ledger/" + run.folder)->rect;
    ImGui::GetIO().KeyShift = !by_menu_key;
    window_.press(snapshot_, by_menu_key ? Key::kMenu : Key::kF10);
    ImGui::GetIO().KeyShift = false;
    const auto* entry = window_.probe().find("menu/replay");
    ASSERT_NE(entry, nullptr);
    EXPECT_GE(entry->rect.x, row.x - 10) << "beside the row, wherever the mouse is";
    window_.press(snapshot_, Key::kTab);
    EXPECT_TRUE(focused().starts_with("menu/")) << focused();
    window_.press(snapshot_, Key::kEscape);
    EXPECT_EQ(window_.probe().find("menu/replay"), nullptr);
    EXPECT_TRUE(is_visible()) << "Esc was the menu's";
    EXPECT_EQ(focused(), "ledger/" + run.folder);
  }
}

TEST_F(FocusRingTest, EscAndTheMouseLetGoOfIt) {
  window_.frames(snapshot_, 3);
  go_to("top/theme");
  EXPECT_TRUE(is_visible());
  window_.press(snapshot_, Key::kEscape);
  EXPECT_FALSE(is_visible());
  window_.press(snapshot_, Key::kTab);
  EXPECT_TRUE(is_visible());
  EXPECT_EQ(focused(), "top/theme") << "it comes back to where it was";
  window_.click_at(snapshot_, 5, 5);
  EXPECT_FALSE(is_visible());
}

TEST_F(FocusRingTest, NoKeyReachesWhatLiesUnderACard) {
  window_.frames(snapshot_, 3);
  const std::string row = "ledger/" + snapshot_.ledger->rows[1].folder;
  for (const bool has_controls : {true, false}) {
    snapshot_.plan = nullptr;
    window_.frames(snapshot_, 2);
    for (const std::string& name : {std::string("top/stop"), row}) {
      snapshot_.plan = nullptr;
      window_.frames(snapshot_, 2);
      go_to(name);
      ASSERT_EQ(focused(), name);
      if (has_controls) snapshot_.plan = plan_snapshot().plan;
      if (!has_controls) window_.type(snapshot_, "?");  // what help lists cannot be clicked
      window_.frames(snapshot_, 3);
      window_.take_commands();
      window_.press(snapshot_, Key::kEnter);
      window_.press(snapshot_, Key::kMenu);
      window_.frames(snapshot_, 2);
      EXPECT_TRUE(window_.take_commands().empty()) << name;
      EXPECT_EQ(window_.probe().find("menu/replay"), nullptr);
      window_.press(snapshot_, Key::kTab);
      EXPECT_EQ(focused() != name, has_controls) << name;
      window_.press(snapshot_, Key::kEscape);
    }
  }
}

TEST_F(FocusRingTest, AFieldThatTabLeavesGivesUpItsValue) {
  window_.frames(snapshot_, 3);
  const std::string field = "knob/batch_per_rank";
  go_to(field);
  ASSERT_EQ(focused(), field);
  window_.frames(snapshot_, 2);
  window_.take_commands();
  window_.type(snapshot_, "5");
  window_.press(snapshot_, Key::kTab);
  window_.frames(snapshot_, 2);
  const auto set = window_.take<state::SetKnob>();
  ASSERT_TRUE(set);
  EXPECT_EQ(set->name, "batch_per_rank");
  EXPECT_NE(focused(), field);
}

// Arrows choose steps as long as nothing has the ring.
TEST_F(FocusRingTest, LeavesKeysToTheWorkspaceUntilTabIsPressed) {
  window_.frames(snapshot_, 3);
  window_.take_commands();
  window_.press(snapshot_, Key::kLeft);
  EXPECT_NE(HeadlessWindow::find<state::SelectStep>(window_.take_commands()), nullptr);
  go_to("top/theme");
  window_.take_commands();
  window_.press(snapshot_, Key::kLeft);
  EXPECT_EQ(HeadlessWindow::find<state::SelectStep>(window_.take_commands()), nullptr);
}

}  // namespace

}  // namespace shardlens::ui::kit
