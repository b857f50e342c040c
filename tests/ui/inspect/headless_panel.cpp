#include "tests/ui/inspect/headless_panel.h"

#include <imgui.h>

#include <algorithm>
#include <utility>

#include "tests/ui/software_renderer.h"

namespace shardlens::ui {

HeadlessPanel::HeadlessPanel(int width, int height, float scale, ThemeKind theme, Draw draw)
    : width_(width), height_(height), draw_(std::move(draw)) {
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
  io.ConfigInputTextCursorBlink = false;
  // As the GLFW backend does.
  io.KeyMap[ImGuiKey_Tab] = static_cast<int>(Key::kTab);
  io.KeyMap[ImGuiKey_Enter] = static_cast<int>(Key::kEnter);
  io.KeyMap[ImGuiKey_Escape] = static_cast<int>(Key::kEscape);
  io.KeyMap[ImGuiKey_A] = static_cast<int>(Key::kA);
  io.MousePos = {-1, -1};
  look_.theme = theme;
  look_.palette = &palette(theme);
  look_.scale = scale;
  look_.fonts = rebuild_fonts(*io.Fonts, scale);
  look_.probe = &probe_;
  unsigned char* data = nullptr;
  int atlas_width = 0, atlas_height = 0;
  io.Fonts->GetTexDataAsAlpha8(&data, &atlas_width, &atlas_height);
}

HeadlessPanel::~HeadlessPanel() { ImGui::DestroyContext(); }

void HeadlessPanel::frames(int count) {
  ImGuiIO& io = ImGui::GetIO();
  const auto w = static_cast<float>(width_), h = static_cast<float>(height_);
  for (int i = 0; i < count; ++i) {
    io.DisplaySize = {w, h};
    io.DeltaTime = 1.0f / 60;
    ImGui::NewFrame();
    probe_.begin_frame();
    apply_style(look_);
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({w, h});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
    ImGui::Begin("##panel", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoBringToFrontOnFocus |
                     ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoScrollWithMouse);
    ImGui::PopStyleVar();
    ImGui::PushFont(look_.font(Face::kBody));
    draw_(look_, {0, 0, w, h}, commands_);
    ImGui::PopFont();
    ImGui::End();
    ImGui::Render();
    io.MouseWheel = 0;
  }
}

void HeadlessPanel::move_to(float x, float y) {
  ImGui::GetIO().MousePos = {x, y};
  frames(2);
}

void HeadlessPanel::click_at(float x, float y, int button) {
  move_to(x, y);
  ImGui::GetIO().MouseDown[button] = true;
  frames(1);
  ImGui::GetIO().MouseDown[button] = false;
  frames(3);
}

bool HeadlessPanel::click(std::string_view target, int button) {
  frames(1);
  const DrawProbe::Target* found = probe_.find(target);
  if (found == nullptr) return false;
  const Rect rect = found->rect;
  click_at(rect.x + std::min(rect.w / 2, 60.0f), rect.center_y(), button);
  return true;
}

bool HeadlessPanel::hover(std::string_view target) {
  frames(1);
  const DrawProbe::Target* found = probe_.find(target);
  if (found == nullptr) return false;
  const Rect rect = found->rect;
  move_to(rect.center_x(), rect.center_y());
  frames(2);
  return true;
}

void HeadlessPanel::press(Key key, bool control, bool shift) {
  ImGuiIO& io = ImGui::GetIO();
  io.KeyCtrl = control;
  io.KeyShift = shift;
  io.KeysDown[static_cast<int>(key)] = true;
  frames(1);
  io.KeysDown[static_cast<int>(key)] = false;
  io.KeyCtrl = io.KeyShift = false;
  frames(2);
}

void HeadlessPanel::type(std::string_view text) {
  for (const char c : text) {
    ImGui::GetIO().AddInputCharacter(static_cast<unsigned char>(c));
    frames(1);
  }
}

void HeadlessPanel::wheel(float amount) {
  ImGui::GetIO().MouseWheel = amount;
  frames(3);
}

Commands HeadlessPanel::take_commands() { return std::exchange(commands_, {}); }

std::vector<std::uint8_t> HeadlessPanel::pixels() const {
  return rasterize(*ImGui::GetDrawData(), *ImGui::GetIO().Fonts, width_, height_);
}

std::vector<std::string> overlapping_texts_of(const DrawProbe& probe) {
  const auto seen = [](const DrawProbe::Text& text) {
    const float x = std::max(text.rect.x, text.clip.x), y = std::max(text.rect.y, text.clip.y);
    return Rect{x, y, std::min(text.rect.right(), text.clip.right()) - x,
                std::min(text.rect.bottom(), text.clip.bottom()) - y};
  };
  std::vector<std::string> out;
  for (std::size_t i = 0; i < probe.texts.size(); ++i) {
    const Rect a = seen(probe.texts[i]);
    if (a.empty()) continue;
    for (std::size_t j = i + 1; j < probe.texts.size(); ++j) {
      const Rect b = seen(probe.texts[j]);
      if (probe.texts[i].layer != probe.texts[j].layer || b.empty() || !a.overlaps(b)) continue;
      const float w = std::min(a.right(), b.right()) - std::max(a.x, b.x);
      const float h = std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y);
      if (w > 1.5f && h > 1.5f) out.push_back(probe.texts[i].text + " | " + probe.texts[j].text);
    }
  }
  return out;
}

}  // namespace shardlens::ui
