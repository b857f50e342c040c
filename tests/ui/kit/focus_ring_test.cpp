// Tab and arrows reach every control of the window, Enter is its click.
#include "ui/kit/focus_ring.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/ui/testing/headless_window.h"
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
  const auto commands = window_.take_commands();
  const auto* set = HeadlessWindow::find<state::SetKnob>(commands);
  ASSERT_NE(set, nullptr);
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
