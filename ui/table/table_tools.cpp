#include "ui/table/table_tools.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "ui/kit/paint.h"
#include "ui/kit/popup.h"
#include "ui/kit/widgets.h"

namespace shardlens::ui::table {

namespace {

constexpr std::size_t kLongestFileName = 80;

bool is_plain_in_file_names(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || (static_cast<unsigned char>(c) & 0x80) != 0;
}

}  // namespace

void filter_field(const kit::Theme& theme, std::string_view name, const state::Rect& rect,
                  std::string& text, std::string_view hint, bool takes_keyboard) {
  const state::Palette& p = theme.colors();
  kit::fill(rect, kit::color(kit::hovers(rect) ? p.hover : p.field), theme.px(5));
  kit::outline(rect, kit::color(p.field_edge), theme.px(5));
  state::Rect inner = rect.inset(theme.px(8), 0);
  if (!text.empty()) {
    const state::Rect clear = inner.take_right(theme.px(16), theme.px(4));
    if (kit::icon_button(theme, std::string(name) + "/clear", clear, kit::Shape::kCross))
      text.clear();
  } else {
    kit::text_in(theme, inner, kit::Face::kSmall, p.text_muted, hint);
  }
  const kit::BareField bare(theme, inner);
  ImGui::PushID(name.data(), name.data() + name.size());
  kit::FieldFocus focus(theme, name, rect);
  focus.gave_up("##filter", &text);
  if (takes_keyboard) ImGui::SetKeyboardFocusHere();
  ImGui::InputText("##filter", &text);
  focus.after();
  ImGui::PopID();
}

bool choice_strip(const kit::Theme& theme, std::string_view name, state::Rect& area,
                  std::span<const std::string_view> choices, std::size_t& chosen) {
  const state::Palette& p = theme.colors();
  float width = 0;
  for (const auto choice : choices)
    width += kit::text_width(theme, kit::Face::kSmall, choice) + theme.px(20);
  if (width > area.w) return false;
  state::Rect strip = area.take_left(width, theme.px(12));
  strip = strip.inset(0, (strip.h - theme.px(24)) / 2);
  kit::fill(strip, kit::color(p.field), theme.px(5));
  bool picked = false;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const state::Rect box =
        strip.take_left(kit::text_width(theme, kit::Face::kSmall, choices[i]) + theme.px(20));
    const kit::Hit hit =
        kit::hit_area(theme, std::string(name) + "/" + std::string(choices[i]), box);
    if (i == chosen) {
      kit::fill(box.inset(1, 1), kit::color(p.hover), theme.px(4));
      kit::outline(box.inset(1, 1), kit::color(p.field_edge), theme.px(4));
    }
    kit::text_in(theme, box, kit::Face::kSmall,
                 i == chosen || hit.hovered ? p.text : p.text_secondary, choices[i],
                 kit::Align::kCenter);
    if (hit.clicked && i != chosen) {
      chosen = i;
      picked = true;
    }
  }
  return picked;
}

bool tool_button(const kit::Theme& theme, std::string_view name, state::Rect& area,
                 std::string_view label) {
  const state::Palette& p = theme.colors();
  const float width = kit::text_width(theme, kit::Face::kSmall, label) + theme.px(20);
  if (width > area.w) return false;
  state::Rect box = area.take_right(width, theme.px(6));
  box = box.inset(0, (box.h - theme.px(24)) / 2);
  const kit::Hit hit = kit::hit_area(theme, name, box);
  kit::fill(box, kit::color(hit.hovered ? p.hover : p.field), theme.px(5));
  kit::text_in(theme, box, kit::Face::kSmall, hit.hovered ? p.text : p.accent_text, label,
               kit::Align::kCenter);
  return hit.clicked;
}

void table_buttons(const kit::Theme& theme, const std::string& name, state::Rect& area,
                   const std::string& file_name, const std::function<std::string()>& csv,
                   state::Commands& commands) {
  const bool saves = tool_button(theme, name + "/save", area, "Save CSV");
  if (tool_button(theme, name + "/copy", area, "Copy CSV")) {
    commands.push_back(state::CopyText{csv()});
  } else if (saves) {
    commands.push_back(state::SaveText{file_name, csv()});
  }
}

bool menu_entry(const kit::Theme& theme, std::string_view name, std::string_view label,
                float width) {
  const state::Palette& p = theme.colors();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const state::Rect row{at.x, at.y, width, theme.px(28)};
  const kit::Hit hit = kit::hit_area(theme, name, row);
  if (hit.hovered) kit::fill(row, kit::color(p.hover), theme.px(4));
  kit::text_in(theme, row.inset(theme.px(10), 0), kit::Face::kBody, p.text, label);
  ImGui::Dummy({row.w, row.h});
  if (hit.clicked) ImGui::CloseCurrentPopup();
  return hit.clicked;
}

std::optional<std::size_t> row_menu(const kit::Theme& theme, const char* id, std::string_view name,
                                    std::string_view title,
                                    std::span<const std::string_view> entries) {
  std::optional<std::size_t> picked;
  kit::place_popup(theme);
  const kit::PopupScope menu(theme, id);
  if (!menu.is_open()) return picked;
  float width = theme.px(200);
  for (const auto entry : entries) {
    width = std::max(width, kit::text_width(theme, kit::Face::kBody, entry) + theme.px(24));
  }
  width = std::clamp(kit::text_width(theme, kit::Face::kSmall, title) + theme.px(24), width,
                     theme.px(360));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const state::Rect head{at.x, at.y, width, theme.px(26)};
  kit::text_in(theme, head.inset(theme.px(10), 0), kit::Face::kSmall, theme.colors().text_muted,
               title);
  kit::fill({head.x, head.bottom() - 1, head.w, 1}, kit::color(theme.colors().panel_edge), 0);
  ImGui::Dummy({head.w, head.h});
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string entry = std::string(name) + "/menu/" + std::string(entries[i]);
    if (menu_entry(theme, entry, entries[i], width)) picked = i;
  }
  return picked;
}

std::string export_file_name(std::string_view run_folder, std::string_view what,
                             std::string_view extension) {
  while (run_folder.ends_with('/')) run_folder.remove_suffix(1);
  if (const auto slash = run_folder.rfind('/'); slash != std::string_view::npos)
    run_folder.remove_prefix(slash + 1);
  std::string name;
  for (const char c : std::string(run_folder) + "_" + std::string(what)) {
    const char kept = is_plain_in_file_names(c) ? c : '_';
    if (kept != '_' || !name.ends_with('_')) name += kept;
  }
  while (name.starts_with('_') || name.starts_with('.')) name.erase(0, 1);
  if (name.size() > kLongestFileName) {
    name.resize(kLongestFileName);
    // Not in the middle of a letter of several bytes.
    while (!name.empty() && (static_cast<unsigned char>(name.back()) & 0xc0) == 0x80) {
      name.pop_back();
    }
    if (!name.empty() && (static_cast<unsigned char>(name.back()) & 0x80) != 0) name.pop_back();
  }
  return name + "." + std::string(extension);
}

}  // namespace shardlens::ui::table
