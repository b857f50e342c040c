#include "ui/kit/toolbar_controls.h"

#include <algorithm>
#include <cmath>

#include "ui/kit/draw_probe.h"
#include "ui/kit/widgets.h"

namespace shardlens::ui {

namespace {

constexpr float kSegmentPadding = 10, kTickSide = 16, kTickGap = 7, kMenuPadding = 6;

float segment_width(const Look& look, const Segment& segment) {
  return std::ceil(text_width(look, Face::kMedium, segment.label)) + 2 * look.px(kSegmentPadding);
}

}  // namespace

float segments_width(const Look& look, std::span<const Segment> segments) {
  float width = 0;
  for (const Segment& segment : segments) width += segment_width(look, segment);
  return width;
}

bool draw_segments(const Look& look, std::string_view name, const Rect& rect,
                   std::span<const Segment> segments, int& chosen) {
  const Palette& p = look.colors();
  fill(rect, color(p.field), look.px(6));
  outline(rect, color(p.field_edge), look.px(6));
  const int before = chosen;
  Rect rest = rect;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Rect box = rest.take_left(segment_width(look, segments[i]));
    const Hit hit = hit_area(look, std::string(name) + "/" + std::string(segments[i].label), box);
    const bool active = before == static_cast<int>(i);
    if (active) {
      fill(box, color(mix(p.field, p.accent, 0.24)), look.px(6));
      outline(box, color(p.accent, 0.45f), look.px(6));
    }
    text_in(look, box.inset(look.px(4), 0), Face::kMedium,
            active || hit.hovered ? p.text : p.text_secondary, segments[i].label, Align::kCenter);
    if (hit.hovered && !segments[i].explanation.empty()) {
      tooltip(look, segments[i].label, segments[i].explanation);
    }
    if (hit.clicked) chosen = static_cast<int>(i);
  }
  return chosen != before;
}

float tick_width(const Look& look, std::string_view label) {
  return look.px(kTickSide) + look.px(kTickGap) + std::ceil(text_width(look, Face::kBody, label));
}

bool draw_tick(const Look& look, std::string_view name, const Rect& rect, std::string_view label,
               bool& value) {
  const Palette& p = look.colors();
  const Hit hit = hit_area(look, name, rect);
  Rect rest = rect;
  const float side = look.px(kTickSide);
  Rect box = rest.take_left(side, look.px(kTickGap));
  box = {box.x, std::round(box.center_y() - side / 2), side, side};
  fill(box, color(value ? p.primary : hit.hovered ? p.hover : p.field), look.px(4));
  if (value) {
    shape(Shape::kCheck, box.center_x(), box.center_y(), side * 0.62f, color(p.on_primary));
  } else {
    outline(box, color(p.idle_edge), look.px(4));
  }
  text_in(look, rest, Face::kBody, hit.hovered ? p.text : p.text_secondary, label);
  if (hit.clicked) value = !value;
  return hit.clicked;
}

float menu_button_width(const Look& look, std::string_view label) {
  return std::ceil(text_width(look, Face::kMedium, label)) + look.px(32);
}

bool draw_menu_button(const Look& look, std::string_view name, const Rect& rect,
                      std::string_view label, std::string_view explanation) {
  const Palette& p = look.colors();
  const Hit hit = hit_area(look, name, rect);
  fill(rect, color(hit.hovered ? p.hover : p.field), look.px(6));
  outline(rect, color(p.field_edge), look.px(6));
  Rect inner = rect.inset(look.px(9), 0);
  const Rect mark = inner.take_right(look.px(8), look.px(4));
  shape(Shape::kDown, mark.center_x(), mark.center_y(), look.px(6), color(p.text_muted));
  text_in(look, inner, Face::kMedium, hit.hovered ? p.text : p.text_secondary, label);
  if (hit.hovered) tooltip(look, label, explanation);
  return hit.clicked;
}

MenuScope::MenuScope(const Look& look, const char* id, const Rect& anchor, float width,
                     float height)
    : look_(look), open_(false) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  width = std::min(width, display.x - look.px(16));
  const float x =
      std::clamp(anchor.x, look.px(8), std::max(look.px(8), display.x - width - look.px(8)));
  const float y = anchor.bottom() + look.px(4);
  const float seen = std::max(std::min(height, display.y - y - look.px(8)), 1.0f);
  ImGui::SetNextWindowPos({x, y});
  ImGui::SetNextWindowSize({width, seen});
  open_ = ImGui::BeginPopup(id, ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav);
  if (!open_) return;
  if (look.probe != nullptr) look.probe->layer += 5;
  const float top = y - ImGui::GetScrollY();
  ImGui::SetCursorScreenPos({x, top + height - 1});  // so that a long list scrolls
  ImGui::Dummy({1, 1});
  area = Rect{x, top, width, height}.inset(look.px(kMenuPadding), look.px(kMenuPadding));
}

MenuScope::~MenuScope() {
  if (!open_) return;
  if (look_.probe != nullptr) look_.probe->layer -= 5;
  ImGui::EndPopup();
}

}  // namespace shardlens::ui
