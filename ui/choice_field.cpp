// The drop-down of ui/widgets.h.
#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "ui/draw_probe.h"
#include "ui/format.h"
#include "ui/keys.h"
#include "ui/widgets.h"

namespace shardlens::ui {

namespace {

bool choices_list(const Look& look, std::string_view name, std::string& value,
                  std::span<const std::string_view> choices) {
  const Palette& p = look.colors();
  const float row_height = look.px(26);
  bool picked = false;
  for (const std::string_view choice : choices) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const Rect row{at.x, at.y, ImGui::GetContentRegionAvail().x, row_height};
    const Hit hit = hit_area(look, std::string(name) + "/" + std::string(choice), row);
    if (hit.hovered) fill(row, color(p.hover), look.px(4));
    Rect inner = row.inset(look.px(8), 0);
    const Rect mark = inner.take_left(look.px(16));
    if (choice == value) {
      shape(Shape::kCheck, mark.x + look.px(5), mark.center_y(), look.px(9), color(p.accent));
    }
    text_in(look, inner, Face::kMono, p.text, choice);
    ImGui::Dummy({row.w, row_height});
    if (hit.clicked) {
      value = std::string(choice);
      picked = true;
      ImGui::CloseCurrentPopup();
    }
  }
  return picked;
}

bool free_text(const Look& look, std::string_view name, std::string& value) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const Rect row{at.x, at.y + look.px(4), ImGui::GetContentRegionAvail().x, look.px(26)};
  const bool changed = input_field(look, std::string(name) + "/text", row, value, "");
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({row.w, row.h + look.px(4)});
  if (changed) ImGui::CloseCurrentPopup();
  return changed;
}

}  // namespace

bool choice_field(const Look& look, std::string_view name, const Rect& rect, std::string& value,
                  std::span<const std::string_view> choices, bool open, bool changed) {
  const Palette& p = look.colors();
  const Hit hit = hit_area(look, name, rect);
  fill(rect, color(hit.hovered ? p.hover : p.field), look.px(5));
  outline(rect, color(changed ? p.changed : p.field_edge), look.px(5));
  Rect inner = rect.inset(look.px(8), 0);
  const Rect arrow = inner.take_right(look.px(8), look.px(6));
  shape(Shape::kDown, arrow.center_x(), arrow.center_y(), look.px(7), color(p.text_secondary));
  // A path is known by its end.
  const std::string shown = elide_start(
      value, inner.w, [&](std::string_view part) { return text_width(look, Face::kMono, part); });
  text_in(look, inner, Face::kMono, changed ? p.changed : p.text, shown);

  const std::string popup = "choices of " + std::string(name);
  if (hit.clicked) ImGui::OpenPopup(popup.c_str());
  ImGui::SetNextWindowPos({rect.x, rect.bottom() + look.px(2)});
  // A value may be wider than its field.
  float longest = 0;
  for (const auto choice : choices) {
    longest = std::max(longest, text_width(look, Face::kMono, choice));
  }
  const float width = std::max({rect.w, look.px(180), longest + look.px(48)});
  ImGui::SetNextWindowSizeConstraints({width, 0}, {width, look.px(400)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(look.px(4), look.px(4)));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
  bool picked = false;
  if (ImGui::BeginPopup(popup.c_str(), ImGuiWindowFlags_NoMove)) {
    if (look.probe != nullptr) ++look.probe->layer;
    picked = choices_list(look, name, value, choices);
    if (open) picked |= free_text(look, name, value);
    if (key_pressed(Key::kEscape, false)) ImGui::CloseCurrentPopup();
    if (look.probe != nullptr) --look.probe->layer;
    ImGui::EndPopup();
  }
  ImGui::PopStyleVar(2);
  return picked;
}

}  // namespace shardlens::ui
