#include "ui/kit/toolbar_controls.h"

#include <algorithm>
#include <cmath>

#include "ui/kit/widgets.h"

namespace shardlens::ui::kit {

namespace {

constexpr float kSegmentPadding = 10, kTickSide = 16, kTickGap = 7, kMenuPadding = 6;

float segment_width(const Theme& theme, const Segment& segment) {
  return std::ceil(text_width(theme, Face::kMedium, segment.label)) + 2 * theme.px(kSegmentPadding);
}

}  // namespace

float segments_width(const Theme& theme, std::span<const Segment> segments) {
  float width = 0;
  for (const Segment& segment : segments) width += segment_width(theme, segment);
  return width;
}

bool draw_segments(const Theme& theme, std::string_view name, const state::Rect& rect,
                   std::span<const Segment> segments, int& chosen) {
  const state::Palette& p = theme.colors();
  bordered(rect, color(p.field), color(p.field_edge), theme.px(6));
  const int before = chosen;
  state::Rect rest = rect;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const state::Rect box = rest.take_left(segment_width(theme, segments[i]));
    const Hit hit = hit_area(theme, std::string(name) + "/" + std::string(segments[i].label), box);
    const bool active = before == static_cast<int>(i);
    if (active) {
      bordered(box, color(state::mix(p.field, p.accent, 0.24)), color(p.accent, 0.45f),
               theme.px(6));
    }
    text_in(theme, box.inset(theme.px(4), 0), Face::kMedium,
            active || hit.hovered ? p.text : p.text_secondary, segments[i].label, Align::kCenter);
    if (hit.hovered && !segments[i].explanation.empty()) {
      tooltip(theme, segments[i].label, segments[i].explanation);
    }
    if (hit.clicked) chosen = static_cast<int>(i);
  }
  return chosen != before;
}

float tick_width(const Theme& theme, std::string_view label) {
  return theme.px(kTickSide) + theme.px(kTickGap) +
         std::ceil(text_width(theme, Face::kBody, label));
}

bool draw_tick(const Theme& theme, std::string_view name, const state::Rect& rect,
               std::string_view label, bool& value) {
  const state::Palette& p = theme.colors();
  const Hit hit = hit_area(theme, name, rect);
  state::Rect rest = rect;
  const float side = theme.px(kTickSide);
  state::Rect box = rest.take_left(side, theme.px(kTickGap));
  box = {box.x, std::round(box.center_y() - side / 2), side, side};
  tick_box(theme, box, value, hit.hovered);
  text_in(theme, rest, Face::kBody, hit.hovered ? p.text : p.text_secondary, label);
  if (hit.clicked) value = !value;
  return hit.clicked;
}

bool draw_tab(const Theme& theme, std::string_view name, const state::Rect& box,
              std::string_view label, bool active) {
  const state::Palette& p = theme.colors();
  const Hit hit = hit_area(theme, name, box);
  text_in(theme, box, Face::kStrong, active || hit.hovered ? p.text : p.text_muted, label);
  if (active) {
    fill({box.x, box.bottom() - theme.px(5), box.w, std::max(2.0f, theme.px(2))}, color(p.accent),
         1);
  }
  return hit.clicked;
}

float menu_button_width(const Theme& theme, std::string_view label) {
  return std::ceil(text_width(theme, Face::kMedium, label)) + theme.px(32);
}

bool draw_menu_button(const Theme& theme, std::string_view name, const state::Rect& rect,
                      std::string_view label, std::string_view explanation) {
  const state::Palette& p = theme.colors();
  const Hit hit = hit_area(theme, name, rect);
  bordered(rect, color(hit.hovered ? p.hover : p.field), color(p.field_edge), theme.px(6));
  state::Rect inner = rect.inset(theme.px(9), 0);
  const state::Rect mark = inner.take_right(theme.px(8), theme.px(4));
  shape(Shape::kDown, mark, theme.px(6), color(p.text_muted));
  text_in(theme, inner, Face::kMedium, hit.hovered ? p.text : p.text_secondary, label);
  if (hit.hovered) tooltip(theme, label, explanation);
  return hit.clicked;
}

MenuScope::MenuScope(const Theme& theme, const char* id, const state::Rect& anchor, float width,
                     float height) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  width = std::min(width, display.x - theme.px(16));
  const float x =
      std::clamp(anchor.x, theme.px(8), std::max(theme.px(8), display.x - width - theme.px(8)));
  const float y = anchor.bottom() + theme.px(4);
  const float seen = std::max(std::min(height, display.y - y - theme.px(8)), 1.0f);
  ImGui::SetNextWindowPos({x, y});
  ImGui::SetNextWindowSize({width, seen});
  popup_.emplace(theme, id);
  if (!is_open()) return;
  const float top = y - ImGui::GetScrollY();
  // So that a long list scrolls, and no other.
  ImGui::SetCursorScreenPos({x, top + height - theme.px(kPopupPadding) - 1});
  ImGui::Dummy({1, 1});
  area = state::Rect{x, top, width, height}.inset(theme.px(kMenuPadding), theme.px(kMenuPadding));
}

}  // namespace shardlens::ui::kit
