#include "ui/kit/popup.h"

#include <imgui_internal.h>

#include "ui/kit/draw_probe.h"
#include "ui/kit/focus_ring.h"
#include "ui/kit/keys.h"

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

}  // namespace shardlens::ui::kit
