#include "ui/kit/panel.h"

namespace shardlens::ui {

float panel_header_height(const Look& look) { return look.px(36); }

Panel::Panel(const Look& look, const char* id, const Rect& rect, const PanelOptions& options) {
  Rect inner = rect;
  if (!options.plain) {
    fill(rect, color(look.colors().panel), look.px(6));
    outline(rect, color(look.colors().panel_edge), look.px(6));
    header = inner.take_top(panel_header_height(look));
    header = header.inset(look.px(kPanelPadding), 0);
    const float width = text_in(look, header, Face::kStrong, look.colors().text, options.title);
    if (width > 0) header.take_left(width, look.px(16));
    if (!options.note.empty()) {
      const float note = label_in(look, header, Face::kSmall, look.colors().text_muted,
                                  options.note, Align::kRight);
      if (note > 0) header.take_right(note, look.px(12));
    }
    inner = {rect.x + 1, inner.y, rect.w - 2, inner.h - look.px(4)};
  }
  child_ = inner;
  ImGui::SetCursorScreenPos({inner.x, inner.y});
  const ImGuiWindowFlags fixed =
      options.scrolls ? 0 : ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse;
  ImGui::BeginChild(id, {std::max(1.0f, inner.w), std::max(1.0f, inner.h)}, false,
                    fixed | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground);
  const float padding = options.plain ? 0 : look.px(kPanelPadding);
  body = {inner.x + padding, inner.y - ImGui::GetScrollY(), inner.w - 2 * padding, inner.h};
}

void Panel::content_height(float height) const {
  ImGui::SetCursorScreenPos({child_.x, body.y + height - 1});
  ImGui::Dummy({1, 1});
}

Panel::~Panel() { ImGui::EndChild(); }

}  // namespace shardlens::ui
