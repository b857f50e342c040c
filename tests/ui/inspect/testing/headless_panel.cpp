#include "tests/ui/inspect/testing/headless_panel.h"

#include <imgui.h>

#include <algorithm>
#include <utility>

namespace shardlens::ui::inspect {

HeadlessPanel::HeadlessPanel(int width, int height, float scale, state::ThemeKind kind, Draw draw)
    : context_(width, height), draw_(std::move(draw)) {
  theme_.palette = &state::palette(kind);
  theme_.scale = scale;
  theme_.fonts = kit::rebuild_fonts(*ImGui::GetIO().Fonts, scale);
  theme_.probe = &probe_;
  unsigned char* data = nullptr;
  int atlas_width = 0, atlas_height = 0;
  ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&data, &atlas_width, &atlas_height);
}

void HeadlessPanel::frame() {
  const auto w = static_cast<float>(context_.width()), h = static_cast<float>(context_.height());
  context_.play([&] {
    probe_.begin_frame();
    kit::apply_style(theme_);
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({w, h});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
    ImGui::Begin("##panel", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                     ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PopStyleVar();
    ImGui::PushFont(theme_.font(kit::Face::kBody));
    draw_(theme_, {0, 0, w, h}, commands_);
    ImGui::PopFont();
    ImGui::End();
  });
}

void HeadlessPanel::frames(int count) {
  for (int i = 0; i < count; ++i) frame();
}

void HeadlessPanel::move_to(float x, float y) {
  HeadlessContext::move_to(x, y, [this] { frame(); });
}

void HeadlessPanel::click_at(float x, float y, int button) {
  HeadlessContext::click_at(x, y, button, [this] { frame(); });
}

bool HeadlessPanel::click(std::string_view target, int button) {
  frames(1);
  const kit::DrawProbe::Target* found = probe_.find(target);
  if (found == nullptr) return false;
  const state::Rect rect = found->rect;
  click_at(rect.x + std::min(rect.w / 2, 60.0f), rect.center_y(), button);
  return true;
}

bool HeadlessPanel::hover(std::string_view target) {
  frames(1);
  const kit::DrawProbe::Target* found = probe_.find(target);
  if (found == nullptr) return false;
  const state::Rect rect = found->rect;
  move_to(rect.center_x(), rect.center_y());
  frames(2);
  return true;
}

void HeadlessPanel::press(kit::Key key, bool control, bool shift) {
  HeadlessContext::press(key, control, shift, [this] { frame(); });
}

void HeadlessPanel::type(std::string_view text) {
  HeadlessContext::type(text, [this] { frame(); });
}

void HeadlessPanel::wheel(float amount) {
  ImGui::GetIO().MouseWheel = amount;
  frames(3);
}

state::Commands HeadlessPanel::take_commands() { return std::exchange(commands_, {}); }

}  // namespace shardlens::ui::inspect
