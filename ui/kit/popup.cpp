#include "ui/kit/popup.h"

#include <imgui_internal.h>

#include "ui/kit/draw_probe.h"
#include "ui/kit/focus_ring.h"
#include "ui/kit/keys.h"
#include "ui/kit/paint.h"

namespace shardlens::ui::kit {

namespace {

constexpr int kPopupLayer = 5;

bool is_top_popup() {
  const auto& popups = ImGui::GetCurrentContext()->OpenPopupStack;
  return !popups.empty() && popups.back().Window == ImGui::GetCurrentWindow();
}

}  // namespace

PopupScope::PopupScope(const Theme& theme, const char* id) : theme_(theme), open_(false) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding,
                      ImVec2(theme.px(kPopupPadding), theme.px(kPopupPadding)));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  open_ = ImGui::BeginPopup(id, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav);
  if (!open_) return;
  if (theme.probe != nullptr) theme.probe->layer += kPopupLayer;
  // A field of text in it is left first.
  const bool edits_text = ImGui::GetIO().WantTextInput;
  if (key_pressed(Key::kEscape, false) && !edits_text && is_top_popup()) ImGui::CloseCurrentPopup();
}

PopupScope::~PopupScope() {
  if (open_) {
    if (theme_.probe != nullptr) theme_.probe->layer -= kPopupLayer;
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar(2);
}

void place_popup(const Theme& theme) {
  const state::Rect* at = theme.focus == nullptr ? nullptr : theme.focus->rect();
  if (at == nullptr) return;
  ImGui::SetNextWindowPos({at->x + theme.px(16), at->bottom()}, ImGuiCond_Appearing);
}

bool has_popup() {
  return ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopupId | ImGuiPopupFlags_AnyPopupLevel);
}

Overlay::Overlay(const Theme& theme, const char* id, const state::Rect& window,
                 const state::Rect& box)
    : theme_(theme), box_(box), has_popup_(has_popup()) {
  const state::Palette& p = theme.colors();
  ImGui::SetNextWindowPos({window.x, window.y});
  ImGui::SetNextWindowSize({window.w, window.h});
  if (!has_popup_) ImGui::SetNextWindowFocus();  // it would close the box's own pop-ups
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 0.0f);
  ImGui::Begin(id, nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav |
                   ImGuiWindowFlags_NoBackground);
  ImGui::PopStyleVar();
  is_on_top_ = theme.focus == nullptr || theme.focus->enter_overlay();
  if (theme.probe != nullptr) theme.probe->layer += 10;
  fill(window, color(p.window, 0.62f));
  for (const float reach : {12.0f, 8.0f, 5.0f, 2.0f}) {  // a shadow with soft edges
    const float out = theme.px(reach);
    const state::Rect shade = box.inset(-out, -out);
    fill({shade.x, shade.y + theme.px(4), shade.w, shade.h}, color(state::rgb(0x000000), 0.05f),
         theme.px(8) + out);
  }
  bordered(box, color(p.popup), color(p.field_edge), theme.px(8));
}

Overlay::~Overlay() {
  if (theme_.probe != nullptr) theme_.probe->layer -= 10;
  ImGui::End();
}

bool Overlay::wants_to_close(bool while_writing) const {
  if (has_popup_ || !is_on_top_) return false;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool outside =
      ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !box_.contains(mouse.x, mouse.y);
  const bool obeys_keys = while_writing || !ImGui::GetIO().WantTextInput;
  return outside || (obeys_keys && key_pressed(Key::kEscape, false));
}

}  // namespace shardlens::ui::kit
