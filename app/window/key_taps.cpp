#include "app/window/key_taps.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include <cstddef>
#include <iterator>

namespace shardlens::app::window {

namespace {

void update_modifiers(ImGuiIO& io) {
  const auto down = [&io](int left, int right) { return io.KeysDown[left] || io.KeysDown[right]; };
  io.KeyCtrl = down(GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL);
  io.KeyShift = down(GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT);
  io.KeyAlt = down(GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT);
}

}  // namespace

void KeyTaps::pressed(int key, int modifiers) {
  const auto known = static_cast<int>(std::size(ImGui::GetIO().KeysDown));
  if (key < 0 || key >= known) return;
  pressed_.push_back(key);
  if (modifiers & GLFW_MOD_CONTROL) pressed_.push_back(GLFW_KEY_LEFT_CONTROL);
  if (modifiers & GLFW_MOD_SHIFT) pressed_.push_back(GLFW_KEY_LEFT_SHIFT);
  if (modifiers & GLFW_MOD_ALT) pressed_.push_back(GLFW_KEY_LEFT_ALT);
}

void KeyTaps::begin_frame() {
  auto& io = ImGui::GetIO();
  for (const int key : pressed_) {
    if (io.KeysDown[key]) continue;
    io.KeysDown[key] = true;
    held_.push_back(key);
  }
  pressed_.clear();
  if (!held_.empty()) update_modifiers(io);
}

void KeyTaps::end_frame() {
  if (held_.empty()) return;
  auto& io = ImGui::GetIO();
  for (const int key : held_) io.KeysDown[key] = false;
  held_.clear();
  update_modifiers(io);
}

}  // namespace shardlens::app::window
