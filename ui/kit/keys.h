// Keys by GLFW's codes, which is how Dear ImGui 1.86 numbers io.KeysDown under its GLFW backend.
// Letters and signs are the keys on which they stand, whatever the layout: the window sees to that.
// Interface thread, inside a frame.
#pragma once

#include <imgui.h>

#include <algorithm>

namespace shardlens::ui::kit {

enum class Key : int {
  kSpace = 32,
  kMinus = 45,
  kZero = 48,
  kOne = 49,
  kTwo = 50,
  kThree = 51,
  kFour = 52,
  kEqual = 61,
  kA = 65,
  kB = 66,
  kD = 68,
  kF = 70,
  kK = 75,
  kM = 77,
  kP = 80,
  kS = 83,
  kT = 84,
  kW = 87,
  kZ = 90,
  kEscape = 256,
  kEnter = 257,
  kTab = 258,
  kRight = 262,
  kLeft = 263,
  kDown = 264,
  kUp = 265,
  kPageUp = 266,
  kPageDown = 267,
  kF10 = 299,
  kF11 = 300,
  kPadZero = 320,
  kPadMinus = 333,
  kPadPlus = 334,
  kPadEnter = 335,
  kMenu = 348,
};

inline bool key_pressed(Key key, bool repeat = true) {
  return ImGui::IsKeyPressed(static_cast<int>(key), repeat);
}
inline bool enter_pressed() {
  return key_pressed(Key::kEnter, false) || key_pressed(Key::kPadEnter, false);
}
// The character was typed in this frame, whatever keys that takes on this layout.
inline bool typed(char character) {
  const ImVector<ImWchar>& queue = ImGui::GetIO().InputQueueCharacters;
  return std::find(queue.begin(), queue.end(), static_cast<ImWchar>(character)) != queue.end();
}

}  // namespace shardlens::ui::kit
