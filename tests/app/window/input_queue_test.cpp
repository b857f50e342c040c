#include "app/window/input_queue.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>
#include <imgui.h>

#include <array>
#include <cstdint>
#include <string_view>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/sample_snapshot.h"

namespace shardlens::app::window {
namespace {

struct InputQueueTest : testing::Test {
  ui::HeadlessWindow window{1280, 800};
  const ui::state::Snapshot snapshot = ui::sample_snapshot();
  InputQueue input;
  InputQueueTest() { frames(3); }

  void frames(int count) {
    for (int i = 0; i < count; ++i) {
      input.feed();
      window.frame(snapshot);
    }
  }
  void frames_until_empty() {
    for (int i = 0; i < 1000 && !input.is_empty(); ++i) frames(1);
    frames(2);
  }
  bool next_frame_sees(int key) {
    frames(1);
    return ImGui::IsKeyPressed(key, false);
  }
  void tap(int key, int modifiers = 0) {
    input.add_key(key, true, modifiers);
    input.add_key(key, false, modifiers);
  }
  void tap_with_control(int key) {
    input.add_key(GLFW_KEY_LEFT_CONTROL, true, 0);
    tap(key, GLFW_MOD_CONTROL);
    input.add_key(GLFW_KEY_LEFT_CONTROL, false, GLFW_MOD_CONTROL);
  }
  // As GLFW tells it: the key, what it means, and its release, while the next is down already.
  void type(std::string_view text) {
    for (const char c : text) {
      const int key = c == ' ' ? GLFW_KEY_SPACE : GLFW_KEY_A + (c | 0x20) - 'a';
      input.add_key(key, true, 0);
      input.add_character(static_cast<unsigned char>(c));
      input.add_key(key, false, 0);
    }
  }
};

TEST_F(InputQueueTest, AKeyReleasedBeforeTheFrameIsSeenOnce) {
  tap(GLFW_KEY_F);
  EXPECT_TRUE(next_frame_sees(GLFW_KEY_F));
  EXPECT_FALSE(next_frame_sees(GLFW_KEY_F));
  EXPECT_TRUE(input.is_empty());
}

TEST_F(InputQueueTest, AKeyTypedTwiceIsSeenTwice) {
  tap(GLFW_KEY_F);
  tap(GLFW_KEY_F);
  int seen = 0;
  for (int i = 0; i < 6; ++i) seen += next_frame_sees(GLFW_KEY_F) ? 1 : 0;
  EXPECT_EQ(seen, 2);
}

TEST_F(InputQueueTest, AModifierIsSeenWithItsKeyOnly) {
  tap(GLFW_KEY_A);
  tap_with_control(GLFW_KEY_B);
  tap(GLFW_KEY_D);
  std::array<bool, 3> with_control{};
  std::array<int, 3> seen{};
  for (int i = 0; i < 12; ++i) {
    frames(1);
    for (std::size_t k = 0; k < seen.size(); ++k) {
      if (!ImGui::IsKeyPressed(std::array{GLFW_KEY_A, GLFW_KEY_B, GLFW_KEY_D}[k], false)) continue;
      ++seen[k];
      with_control[k] = ImGui::GetIO().KeyCtrl;
    }
  }
  EXPECT_EQ(seen, (std::array{1, 1, 1}));
  EXPECT_EQ(with_control, (std::array{false, true, false}));
}

TEST_F(InputQueueTest, AModifierPressedWhereItCouldNotBeSeenCounts) {
  input.add_key(GLFW_KEY_B, true, GLFW_MOD_CONTROL);
  frames(1);
  EXPECT_TRUE(ImGui::GetIO().KeyCtrl);
  frames(3);
  EXPECT_FALSE(ImGui::GetIO().KeyCtrl);
}

TEST_F(InputQueueTest, AKeyThatStaysDownIsLeftAlone) {
  input.add_key(GLFW_KEY_W, true, 0);
  EXPECT_TRUE(next_frame_sees(GLFW_KEY_W));
  EXPECT_TRUE(ImGui::GetIO().KeysDown[GLFW_KEY_W]);
  input.add_key(GLFW_KEY_W, false, 0);
  frames(1);
  EXPECT_FALSE(ImGui::GetIO().KeysDown[GLFW_KEY_W]);
}

TEST_F(InputQueueTest, AKeyThatGlfwDoesNotKnowIsIgnored) {
  input.add_key(GLFW_KEY_UNKNOWN, true, 0);
  input.add_key(100'000, true, 0);
  EXPECT_TRUE(input.is_empty());
}

// With AZERTY.
TEST_F(InputQueueTest, AKeyIsCalledByWhatStandsOnIt) {
  ui::inspect::TimelineState& timeline = window.view().workspace().timeline().state();
  const auto tap_printed = [&](int place, const char* printed) {
    input.add_key(place, true, 0, printed);
    input.add_key(place, false, 0, printed);
    frames_until_empty();
  };
  tap_printed(GLFW_KEY_M, ",");
  EXPECT_FALSE(timeline.measuring);
  tap_printed(GLFW_KEY_SEMICOLON, "m");
  EXPECT_TRUE(timeline.measuring);
  const double whole = timeline.step_window.span_ns();
  tap_printed(GLFW_KEY_W, "z");
  EXPECT_EQ(timeline.step_window.span_ns(), whole);
  for (int i = 0; i < 3; ++i) tap_printed(GLFW_KEY_Z, "w");
  EXPECT_LT(timeline.step_window.span_ns(), 0.7 * whole);
  const std::int64_t start = timeline.step_window.start_ns();
  tap_printed(GLFW_KEY_D, "d");
  const std::int64_t right = timeline.step_window.start_ns();
  EXPECT_GT(right, start);
  tap_printed(GLFW_KEY_A, "q");
  EXPECT_EQ(timeline.step_window.start_ns(), right);
  tap_printed(GLFW_KEY_Q, "a");
  EXPECT_NEAR(static_cast<double>(timeline.step_window.start_ns() - start), 0, 2);
}

TEST(KeyByPrint, LeavesKeysWhereTheyAreThatHaveNoSignOfTheirOwn) {
  EXPECT_EQ(key_by_print(GLFW_KEY_W, "ц"), GLFW_KEY_W) << "Cyrillic";
  EXPECT_EQ(key_by_print(GLFW_KEY_ENTER, nullptr), GLFW_KEY_ENTER);
  EXPECT_EQ(key_by_print(GLFW_KEY_SPACE, nullptr), GLFW_KEY_SPACE);
  EXPECT_EQ(key_by_print(GLFW_KEY_KP_0, "0"), GLFW_KEY_KP_0);
  EXPECT_EQ(key_by_print(GLFW_KEY_1, "&"), GLFW_KEY_1) << "AZERTY, 1 with Shift";
  EXPECT_EQ(key_by_print(GLFW_KEY_1, "+"), GLFW_KEY_1) << "Czech";
  EXPECT_EQ(key_by_print(GLFW_KEY_UNKNOWN, "m"), GLFW_KEY_UNKNOWN);
}

TEST(KeyByPrint, FindsWhatMakesLargerAndSmaller) {
  EXPECT_EQ(key_by_print(GLFW_KEY_EQUAL, "="), GLFW_KEY_EQUAL) << "US";
  EXPECT_EQ(key_by_print(GLFW_KEY_RIGHT_BRACKET, "+"), GLFW_KEY_EQUAL) << "German";
  EXPECT_EQ(key_by_print(GLFW_KEY_MINUS, "+"), GLFW_KEY_EQUAL) << "Swedish";
  EXPECT_EQ(key_by_print(GLFW_KEY_SLASH, "-"), GLFW_KEY_MINUS) << "both";
  EXPECT_EQ(key_by_print(GLFW_KEY_6, "-"), GLFW_KEY_MINUS) << "AZERTY";
  EXPECT_NE(key_by_print(GLFW_KEY_MINUS, ")"), GLFW_KEY_MINUS) << "AZERTY";
}

TEST_F(InputQueueTest, AKeyIsReleasedAsWhatItWentDown) {
  input.add_key(GLFW_KEY_Q, true, 0, "a");
  frames(1);
  ASSERT_TRUE(ImGui::GetIO().KeysDown[GLFW_KEY_A]);
  input.add_key(GLFW_KEY_Q, false, 0, "q");  // the layout was changed meanwhile
  frames(1);
  EXPECT_FALSE(ImGui::GetIO().KeysDown[GLFW_KEY_A]);
}

TEST_F(InputQueueTest, AClickIsSeenWhereItWasAndBehindTheKeysBeforeIt) {
  tap(GLFW_KEY_F);
  input.add_button(0, true, 30, 40);
  input.add_button(0, false, 30, 40);
  ImGui::GetIO().MousePos = {700, 700};  // where the pointer is by now
  frames(1);
  EXPECT_FALSE(ImGui::IsMouseClicked(0));
  frames(1);
  EXPECT_TRUE(ImGui::IsMouseClicked(0));
  EXPECT_EQ(ImGui::GetIO().MousePos.x, 30);
  EXPECT_EQ(ImGui::GetIO().MousePos.y, 40);
  frames(1);
  EXPECT_TRUE(ImGui::IsMouseReleased(0));
}

// All of it between two frames, as where the machine is busy: with letters lost to the field that
// was not open yet, Enter would start a training.
TEST_F(InputQueueTest, ACommandTypedFasterThanFramesAreDrawnIsTheOneThatIsObeyed) {
  const auto theme = window.view().preferences().theme;
  window.take_commands();
  tap_with_control(GLFW_KEY_K);
  type("Quit");
  tap(GLFW_KEY_ENTER);
  frames_until_empty();
  const auto commands = window.take_commands();
  EXPECT_NE(ui::HeadlessWindow::find<ui::state::Quit>(commands), nullptr);
  EXPECT_EQ(ui::HeadlessWindow::find<ui::state::StartRun>(commands), nullptr);
  EXPECT_EQ(window.view().preferences().theme, theme);
}

}  // namespace
}  // namespace shardlens::app::window
