#include "tests/ui/testing/headless_window.h"

#include <imgui.h>

#include <utility>

namespace shardlens::ui {

HeadlessWindow::HeadlessWindow(int width, int height, state::ViewPreferences preferences)
    : context_(width, height), view_(std::move(preferences)) {
  view_.set_probe(&probe_);
}

void HeadlessWindow::frame(const state::Snapshot& snapshot) {
  ImGuiIO& io = ImGui::GetIO();
  if (view_.prepare_fonts(*io.Fonts)) {
    unsigned char* data = nullptr;
    int atlas_width = 0, atlas_height = 0;
    io.Fonts->GetTexDataAsAlpha8(&data, &atlas_width, &atlas_height);
  }
  context_.play([&] { view_.draw(snapshot, commands_); });
}

void HeadlessWindow::frames(const state::Snapshot& snapshot, int count) {
  for (int i = 0; i < count; ++i) frame(snapshot);
}

void HeadlessWindow::move_to(const state::Snapshot& snapshot, float x, float y) {
  HeadlessContext::move_to(x, y, [&] { frame(snapshot); });
}

void HeadlessWindow::click_at(const state::Snapshot& snapshot, float x, float y, int button) {
  HeadlessContext::click_at(x, y, button, [&] { frame(snapshot); });
}

bool HeadlessWindow::click(const state::Snapshot& snapshot, std::string_view target, int button) {
  frame(snapshot);
  const kit::DrawProbe::Target* found = probe_.find(target);
  if (found == nullptr) return false;
  const state::Rect rect = found->rect;
  if (!state::Rect{0, 0, static_cast<float>(width()), static_cast<float>(height())}.contains(
          rect.center_x(), rect.center_y())) {
    return false;
  }
  click_at(snapshot, rect.center_x(), rect.center_y(), button);
  return true;
}

bool HeadlessWindow::double_click(const state::Snapshot& snapshot, std::string_view target) {
  return click(snapshot, target) && click(snapshot, target);
}

bool HeadlessWindow::drag(const state::Snapshot& snapshot, std::string_view target, float from,
                          float to) {
  frame(snapshot);
  const kit::DrawProbe::Target* found = probe_.find(target);
  if (found == nullptr) return false;
  const state::Rect rect = found->rect;
  move_to(snapshot, rect.x + rect.w * from, rect.center_y());
  ImGui::GetIO().MouseDown[0] = true;
  frame(snapshot);
  move_to(snapshot, rect.x + rect.w * to, rect.center_y());
  ImGui::GetIO().MouseDown[0] = false;
  frames(snapshot, 2);
  return true;
}

void HeadlessWindow::press(const state::Snapshot& snapshot, kit::Key key, bool control) {
  HeadlessContext::press(key, control, false, [&] { frame(snapshot); });
}

void HeadlessWindow::type(const state::Snapshot& snapshot, std::string_view text) {
  HeadlessContext::type(text, [&] { frame(snapshot); });
}

void HeadlessWindow::wheel(const state::Snapshot& snapshot, float amount) {
  ImGui::GetIO().MouseWheel = amount;
  frame(snapshot);
}

state::Commands HeadlessWindow::take_commands() { return std::exchange(commands_, {}); }

}  // namespace shardlens::ui
