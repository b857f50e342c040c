#include "tests/ui/testing/headless_context.h"

#include <imgui.h>

#include <array>
#include <utility>

#include "tests/ui/testing/software_renderer.h"

namespace shardlens::ui {

HeadlessContext::HeadlessContext(int width, int height) : width_(width), height_(height) {
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
  io.ConfigInputTextCursorBlink = false;
  // As the GLFW backend does.
  constexpr std::array kKeys{std::pair{ImGuiKey_Tab, kit::Key::kTab},
                             std::pair{ImGuiKey_Enter, kit::Key::kEnter},
                             std::pair{ImGuiKey_Escape, kit::Key::kEscape},
                             std::pair{ImGuiKey_A, kit::Key::kA},
                             std::pair{ImGuiKey_Z, kit::Key::kZ},
                             std::pair{ImGuiKey_UpArrow, kit::Key::kUp},
                             std::pair{ImGuiKey_DownArrow, kit::Key::kDown},
                             std::pair{ImGuiKey_LeftArrow, kit::Key::kLeft},
                             std::pair{ImGuiKey_RightArrow, kit::Key::kRight}};
  for (const auto& [own, key] : kKeys) io.KeyMap[own] = static_cast<int>(key);
  io.MousePos = {-1, -1};
}

HeadlessContext::~HeadlessContext() { ImGui::DestroyContext(); }

void HeadlessContext::resize(int width, int height) {
  width_ = width;
  height_ = height;
}

void HeadlessContext::play(const Frame& draw) const {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(width_), static_cast<float>(height_)};
  io.DeltaTime = 1.0f / 60;
  ImGui::NewFrame();
  draw();
  ImGui::Render();
  io.MouseWheel = 0;
}

void HeadlessContext::move_to(float x, float y, const Frame& frame) {
  ImGui::GetIO().MousePos = {x, y};
  frame();
  frame();
}

void HeadlessContext::click_at(float x, float y, int button, const Frame& frame) {
  move_to(x, y, frame);
  ImGui::GetIO().MouseDown[button] = true;
  frame();
  ImGui::GetIO().MouseDown[button] = false;
  for (int i = 0; i < 3; ++i) frame();
}

void HeadlessContext::press(kit::Key key, bool control, bool shift, const Frame& frame) {
  ImGuiIO& io = ImGui::GetIO();
  io.KeyCtrl = control;
  const bool held = io.KeyShift;
  io.KeyShift = held || shift;
  io.KeysDown[static_cast<int>(key)] = true;
  frame();
  io.KeysDown[static_cast<int>(key)] = false;
  io.KeyCtrl = false;
  io.KeyShift = held;
  frame();
  frame();
}

void HeadlessContext::type(std::string_view text, const Frame& frame) {
  for (const char c : text) {
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(c));
    frame();
  }
}

std::vector<std::uint8_t> HeadlessContext::pixels() const {
  return rasterize(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts, width_, height_);
}

}  // namespace shardlens::ui
