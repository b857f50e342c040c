#include "app/window/key_taps.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <gtest/gtest.h>
#include <imgui.h>

namespace shardlens::app::window {
namespace {

struct KeyTapsTest : testing::Test {
  KeyTaps taps;
  KeyTapsTest() {
    ImGui::CreateContext();
    auto& io = ImGui::GetIO();
    io.DisplaySize = {640, 480};
    io.DeltaTime = 1.0f / 60;
    io.IniFilename = nullptr;
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    io.Fonts->GetTexDataAsRGBA32(&pixels, &width, &height);
  }
  ~KeyTapsTest() override { ImGui::DestroyContext(); }
  bool frame_sees(int key) {
    taps.begin_frame();
    ImGui::NewFrame();
    const bool seen = ImGui::IsKeyPressed(key, false);
    ImGui::Render();
    taps.end_frame();
    return seen;
  }
};

TEST_F(KeyTapsTest, AKeyReleasedBeforeTheFrameIsSeenOnce) {
  taps.pressed(GLFW_KEY_F, 0);
  EXPECT_TRUE(frame_sees(GLFW_KEY_F));
  EXPECT_FALSE(frame_sees(GLFW_KEY_F));
}

TEST_F(KeyTapsTest, ItsModifierIsSeenWithIt) {
  taps.pressed(GLFW_KEY_LEFT_CONTROL, 0);
  taps.pressed(GLFW_KEY_ENTER, 0);
  taps.begin_frame();
  EXPECT_TRUE(ImGui::GetIO().KeyCtrl);
  taps.end_frame();
  EXPECT_FALSE(ImGui::GetIO().KeyCtrl);
}

TEST_F(KeyTapsTest, AModifierPressedEarlierAndReleasedWithItsKeyIsStillSeen) {
  ImGui::GetIO().KeysDown[GLFW_KEY_LEFT_CONTROL] = true;
  EXPECT_FALSE(frame_sees(GLFW_KEY_K));
  taps.pressed(GLFW_KEY_K, GLFW_MOD_CONTROL);
  ImGui::GetIO().KeysDown[GLFW_KEY_LEFT_CONTROL] = false;
  taps.begin_frame();
  EXPECT_TRUE(ImGui::GetIO().KeyCtrl);
  EXPECT_TRUE(ImGui::GetIO().KeysDown[GLFW_KEY_K]);
  taps.end_frame();
  EXPECT_FALSE(ImGui::GetIO().KeyCtrl);
}

TEST_F(KeyTapsTest, AKeyThatStaysDownIsLeftAlone) {
  taps.pressed(GLFW_KEY_W, 0);
  ImGui::GetIO().KeysDown[GLFW_KEY_W] = true;
  EXPECT_TRUE(frame_sees(GLFW_KEY_W));
  EXPECT_TRUE(ImGui::GetIO().KeysDown[GLFW_KEY_W]);
}

TEST_F(KeyTapsTest, AKeyThatGlfwDoesNotKnowIsIgnored) {
  taps.pressed(GLFW_KEY_UNKNOWN, 0);
  taps.pressed(100'000, 0);
  EXPECT_FALSE(frame_sees(GLFW_KEY_F));
}

}  // namespace
}  // namespace shardlens::app::window
