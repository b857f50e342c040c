#include "ui/kit/panel.h"

#include <algorithm>
#include <cmath>

namespace shardlens::ui::kit {

RowSpan rows_to_draw(const state::Rect& area, float top, float row_height, std::size_t count) {
  const auto at_most = [&](float rows) {
    return static_cast<std::size_t>(std::clamp(rows, 0.0f, static_cast<float>(count)));
  };
  const std::size_t first = at_most(std::floor((area.y - top) / row_height) - 1);
  return {first, std::max(first, at_most(std::ceil((area.bottom() - top) / row_height) + 1))};
}

float panel_header_height(const Theme& theme) { return theme.px(36); }

void panel_surface(const Theme& theme, const state::Rect& rect) {
  bordered(rect, color(theme.colors().panel), color(theme.colors().panel_edge), theme.px(6));
}

Panel::Panel(const Theme& theme, const char* id, const state::Rect& rect,
             const PanelOptions& options) {
  state::Rect inner = rect;
  if (!options.plain) {
    panel_surface(theme, rect);
    header = inner.take_top(panel_header_height(theme));
    header = header.inset(theme.px(kPanelPadding), 0);
    take_text(theme, header, theme.px(16), Face::kStrong, theme.colors().text, options.title);
    if (!options.note.empty()) {
      const float note = label_in(theme, header, Face::kSmall, theme.colors().text_muted,
                                  options.note, Align::kRight);
      if (note > 0) header.take_right(note, theme.px(12));
    }
    inner = {rect.x + 1, inner.y, rect.w - 2, inner.h - theme.px(4)};
  }
  child_ = inner;
  ImGui::SetCursorScreenPos({inner.x, inner.y});
  const ImGuiWindowFlags fixed =
      (options.scrolls ? 0 : ImGuiWindowFlags_NoScrollbar) |
      (options.scrolls && options.wheel ? 0 : ImGuiWindowFlags_NoScrollWithMouse);
  ImGui::BeginChild(id, {std::max(1.0f, inner.w), std::max(1.0f, inner.h)}, false,
                    fixed | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground);
  const float padding = options.plain ? 0 : theme.px(kPanelPadding);
  body = {inner.x + padding, inner.y - ImGui::GetScrollY(), inner.w - 2 * padding, inner.h};
}

void Panel::content_height(float height) const {
  ImGui::SetCursorScreenPos({child_.x, body.y + height - 1});
  ImGui::Dummy({1, 1});
}

Panel::~Panel() { ImGui::EndChild(); }

}  // namespace shardlens::ui::kit
