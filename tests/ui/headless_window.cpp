#include "tests/ui/headless_window.h"

#include <imgui.h>

#include <utility>

#include "tests/ui/software_renderer.h"

namespace shardlens::ui {

HeadlessWindow::HeadlessWindow(int width, int height, ViewPreferences preferences)
    : width_(width), height_(height), view_(std::move(preferences)) {
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
  // As the GLFW backend does.
  io.KeyMap[ImGuiKey_Enter] = static_cast<int>(Key::kEnter);
  io.KeyMap[ImGuiKey_Escape] = static_cast<int>(Key::kEscape);
  io.KeyMap[ImGuiKey_UpArrow] = static_cast<int>(Key::kUp);
  io.KeyMap[ImGuiKey_DownArrow] = static_cast<int>(Key::kDown);
  io.KeyMap[ImGuiKey_LeftArrow] = static_cast<int>(Key::kLeft);
  io.KeyMap[ImGuiKey_RightArrow] = static_cast<int>(Key::kRight);
  io.MousePos = {-1, -1};
  view_.set_probe(&probe_);
}

HeadlessWindow::~HeadlessWindow() { ImGui::DestroyContext(); }

void HeadlessWindow::resize(int width, int height) {
  width_ = width;
  height_ = height;
}

void HeadlessWindow::frame(const Snapshot& snapshot) {
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {static_cast<float>(width_), static_cast<float>(height_)};
  io.DeltaTime = 1.0f / 60;
  if (view_.prepare_fonts(*io.Fonts)) {
    unsigned char* data = nullptr;
    int atlas_width = 0, atlas_height = 0;
    io.Fonts->GetTexDataAsAlpha8(&data, &atlas_width, &atlas_height);
  }
  ImGui::NewFrame();
  view_.draw(snapshot, commands_);
  ImGui::Render();
  io.MouseWheel = 0;
}

void HeadlessWindow::frames(const Snapshot& snapshot, int count) {
  for (int i = 0; i < count; ++i) frame(snapshot);
}

void HeadlessWindow::move_to(const Snapshot& snapshot, float x, float y) {
  ImGui::GetIO().MousePos = {x, y};
  frames(snapshot, 2);
}

void HeadlessWindow::click_at(const Snapshot& snapshot, float x, float y, int button) {
  move_to(snapshot, x, y);
  ImGui::GetIO().MouseDown[button] = true;
  frame(snapshot);
  ImGui::GetIO().MouseDown[button] = false;
  frames(snapshot, 3);
}

bool HeadlessWindow::click(const Snapshot& snapshot, std::string_view target, int button) {
  frame(snapshot);
  const DrawProbe::Target* found = probe_.find(target);
  if (found == nullptr) return false;
  const Rect rect = found->rect;
  if (!Rect{0, 0, static_cast<float>(width_), static_cast<float>(height_)}.contains(
          rect.center_x(), rect.center_y())) {
    return false;
  }
  click_at(snapshot, rect.center_x(), rect.center_y(), button);
  return true;
}

bool HeadlessWindow::double_click(const Snapshot& snapshot, std::string_view target) {
  return click(snapshot, target) && click(snapshot, target);
}

bool HeadlessWindow::drag(const Snapshot& snapshot, std::string_view target, float from, float to) {
  frame(snapshot);
  const DrawProbe::Target* found = probe_.find(target);
  if (found == nullptr) return false;
  const Rect rect = found->rect;
  move_to(snapshot, rect.x + rect.w * from, rect.center_y());
  ImGui::GetIO().MouseDown[0] = true;
  frame(snapshot);
  move_to(snapshot, rect.x + rect.w * to, rect.center_y());
  ImGui::GetIO().MouseDown[0] = false;
  frames(snapshot, 2);
  return true;
}

void HeadlessWindow::press(const Snapshot& snapshot, Key key, bool control) {
  ImGuiIO& io = ImGui::GetIO();
  io.KeyCtrl = control;
  io.KeysDown[static_cast<int>(key)] = true;
  frame(snapshot);
  io.KeysDown[static_cast<int>(key)] = false;
  io.KeyCtrl = false;
  frames(snapshot, 2);
}

void HeadlessWindow::type(const Snapshot& snapshot, std::string_view text) {
  for (const char c : text) {
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(c));
    frame(snapshot);
  }
}

void HeadlessWindow::wheel(const Snapshot& snapshot, float amount) {
  ImGui::GetIO().MouseWheel = amount;
  frame(snapshot);
}

Commands HeadlessWindow::take_commands() { return std::exchange(commands_, {}); }

std::vector<std::uint8_t> HeadlessWindow::pixels() const {
  return rasterize(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts, width_, height_);
}

}  // namespace shardlens::ui
