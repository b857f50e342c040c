#include "ui/window/close_card.h"

#include <gtest/gtest.h>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/sample_snapshot.h"

namespace shardlens::ui::window {
namespace {

struct CloseCardTest : testing::Test {
  HeadlessWindow window{1280, 800};
  state::Snapshot snapshot = sample_snapshot();
  CloseCardTest() {
    snapshot.asks_to_close = true;
    window.frames(snapshot, 3);
    window.take_commands();
  }
  bool asked_to_quit() { return answer_is<state::Quit>(); }
  bool asked_to_stay() { return answer_is<state::KeepOpen>(); }

 private:
  // And nothing else.
  template <typename Answer>
  bool answer_is() {
    const state::Commands commands = window.take_commands();
    return commands.size() == 1 && std::holds_alternative<Answer>(commands.front());
  }
};

TEST_F(CloseCardTest, SaysWhatGoesOnAndIsAnsweredByClick) {
  EXPECT_TRUE(window.probe().shows("Close Shardlens?"));
  EXPECT_TRUE(window.probe().shows("what it has recorded is kept"));
  ASSERT_TRUE(window.click(snapshot, "close/stop"));
  EXPECT_TRUE(asked_to_quit());
  ASSERT_TRUE(window.click(snapshot, "close/keep"));
  EXPECT_TRUE(asked_to_stay());
  window.click_at(snapshot, 20, 400);  // beside it
  EXPECT_TRUE(asked_to_stay());
}

TEST_F(CloseCardTest, IsAnsweredByKey) {
  window.press(snapshot, kit::Key::kEnter);
  EXPECT_TRUE(asked_to_quit());
  window.press(snapshot, kit::Key::kEscape);
  EXPECT_TRUE(asked_to_stay());
  window.press(snapshot, kit::Key::kTab);  // from button to button
  window.press(snapshot, kit::Key::kTab);
  window.press(snapshot, kit::Key::kEnter);
  EXPECT_TRUE(asked_to_stay());
}

TEST_F(CloseCardTest, KeepsKeysFromWhatLiesBelow) {
  window.press(snapshot, kit::Key::kEnter, true);
  window.press(snapshot, kit::Key::kP);
  window.press(snapshot, kit::Key::kSpace);
  window.press(snapshot, kit::Key::kK, true);
  window.type(snapshot, "?");
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.take_commands().empty());
  EXPECT_TRUE(window.probe().shows("Close Shardlens?"));
  EXPECT_FALSE(window.probe().shows("Next run"));
}

TEST_F(CloseCardTest, EnterIsItsOwnWhateverHadTheKeyboardBefore) {
  snapshot.asks_to_close = false;
  window.frames(snapshot, 3);
  for (int i = 0; i < 400 && window.view().focus().name() != "top/stop"; ++i) {
    window.press(snapshot, kit::Key::kTab);
  }
  ASSERT_TRUE(window.view().focus().is_on("top/stop"));
  snapshot.asks_to_close = true;
  window.frames(snapshot, 3);
  window.take_commands();
  window.press(snapshot, kit::Key::kEnter);
  EXPECT_TRUE(asked_to_quit());
}

TEST_F(CloseCardTest, TakesThePlaceOfOtherCards) {
  state::Snapshot plan = plan_snapshot();
  window.frames(plan, 3);
  EXPECT_NE(window.probe().find("plan/close"), nullptr);
  plan.asks_to_close = true;
  window.frames(plan, 3);
  EXPECT_EQ(window.probe().find("plan/close"), nullptr);
  window.press(plan, kit::Key::kEscape);
  EXPECT_TRUE(asked_to_stay());  // and the plan stays, too
}

}  // namespace
}  // namespace shardlens::ui::window
