#include "ui/kit/widgets.h"

#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <string>

#include "ui/kit/draw_probe.h"
#include "ui/kit/focus_ring.h"
#include "ui/kit/popup.h"
#include "ui/present/format.h"

namespace shardlens::ui::kit {

namespace {

struct ButtonColors {
  state::Rgb fill, hovered, label, edge;
};

ButtonColors button_colors(const state::Palette& p, ButtonKind kind) {
  switch (kind) {
    case ButtonKind::kPrimary:
      return {p.primary, p.primary_hover, p.on_primary, p.primary};
    case ButtonKind::kDanger:
      return {p.danger_field, state::mix(p.danger_field, p.danger, 0.2), p.on_danger, p.danger};
    case ButtonKind::kQuiet:
      return {p.field, p.hover, p.text, p.field_edge};
    case ButtonKind::kGhost:
      return {p.panel, p.hover, p.accent_text, p.panel};
  }
  return {};
}

void field_surface(const Theme& theme, const state::Rect& rect, bool hovered, bool changed) {
  const state::Palette& p = theme.colors();
  bordered(rect, color(hovered ? p.hover : p.field), color(changed ? p.changed : p.field_edge),
           theme.px(5));
}

std::string typed_text(const ImGuiInputTextState& state) {
  std::string text(static_cast<std::size_t>(state.CurLenW) * 4 + 1, '\0');
  const int length = ImTextStrToUtf8(text.data(), static_cast<int>(text.size()), state.TextW.Data,
                                     state.TextW.Data + state.CurLenW);
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace

bool hovers(const state::Rect& rect) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  return rect.contains(mouse.x, mouse.y) && ImGui::IsWindowHovered() &&
         ImGui::IsMouseHoveringRect({rect.x, rect.y}, {rect.right(), rect.bottom()});
}

FieldFocus::FieldFocus(const Theme& theme, std::string_view name, const state::Rect& rect)
    : theme_(theme), name_(name) {
  if (theme.probe != nullptr) theme.probe->targets.push_back({std::string(name), rect});
  if (theme.focus == nullptr) return;
  const FocusRing::Visit visit = theme.focus->visit(name, rect);
  left_ = visit.left;
  if (visit.entered) ImGui::SetKeyboardFocusHere();
}

void forget_undo(const char* label, const std::string& text) {
  const ImGuiID id = ImGui::GetID(label);
  ImGuiInputTextState* state = ImGui::GetInputTextState(id);
  if (state == nullptr || ImGui::GetActiveID() == id) return;
  if (typed_text(*state) != text) state->ID = 0;
}

// A field that merely loses the keyboard forgets what was typed into it.
bool FieldFocus::gave_up(const char* label, std::string* text) {
  forget_undo(label, *text);
  const ImGuiID id = ImGui::GetID(label);
  if (!left_ || ImGui::GetActiveID() != id) return false;
  const ImGuiInputTextState* state = ImGui::GetInputTextState(id);
  if (state == nullptr) return false;
  *text = typed_text(*state);
  ImGui::ClearActiveID();
  return true;
}

void FieldFocus::after() const {
  if (theme_.focus != nullptr && ImGui::IsItemActivated()) theme_.focus->note_field(name_);
}

Hit mouse_area(const Theme& theme, std::string_view name, const state::Rect& rect) {
  Hit hit;
  if (rect.empty()) return hit;
  if (theme.probe != nullptr) theme.probe->targets.push_back({std::string(name), rect});
  const ImVec2 cursor = ImGui::GetCursorScreenPos();
  ImGui::SetCursorScreenPos({rect.x, rect.y});
  ImGui::PushID(name.data(), name.data() + name.size());
  hit.clicked = ImGui::InvisibleButton("hit", {rect.w, rect.h});
  hit.hovered = ImGui::IsItemHovered();
  hit.held = ImGui::IsItemActive();
  hit.pressed = ImGui::IsItemActivated();
  hit.double_clicked =
      hit.clicked && ImGui::GetIO().MouseClickedLastCount[ImGuiMouseButton_Left] == 2;
  hit.right_clicked = hit.hovered && ImGui::IsMouseReleased(ImGuiMouseButton_Right);
  ImGui::PopID();
  ImGui::SetCursorScreenPos(cursor);
  return hit;
}

Hit hit_area(const Theme& theme, std::string_view name, const state::Rect& rect) {
  Hit hit = mouse_area(theme, name, rect);
  if (theme.focus != nullptr && !rect.empty()) {
    const FocusRing::Visit visit = theme.focus->visit(name, rect);
    hit.clicked |= visit.activated;
    hit.right_clicked |= visit.asks_menu;
    hit.entered = visit.entered;
  }
  return hit;
}

bool link(const Theme& theme, std::string_view name, const state::Rect& rect, state::Rgb ink,
          std::string_view words) {
  const Hit hit = hit_area(theme, name, rect);
  text_in(theme, rect, Face::kSmall, hit.hovered ? theme.colors().text : ink, words);
  return hit.clicked;
}

static Face button_face(ButtonKind kind) {
  const bool loud = kind == ButtonKind::kPrimary || kind == ButtonKind::kDanger;
  return loud ? Face::kStrong : Face::kMedium;
}

float button_width(const Theme& theme, std::string_view label, ButtonKind kind) {
  return text_width(theme, button_face(kind), label) + theme.px(24);
}

bool button(const Theme& theme, std::string_view name, const state::Rect& rect, ButtonKind kind,
            std::string_view label, bool enabled) {
  return answering_button(theme, name, rect, kind, label, enabled) && enabled;
}

bool answering_button(const Theme& theme, std::string_view name, const state::Rect& rect,
                      ButtonKind kind, std::string_view label, bool enabled) {
  const state::Palette& p = theme.colors();
  const Hit hit = hit_area(theme, name, rect);
  const ButtonColors c = button_colors(p, kind);
  if (enabled) {
    fill(rect, color(hit.hovered ? c.hovered : c.fill), theme.px(6));
    if (kind != ButtonKind::kGhost) outline(rect, color(c.edge, 0.7f), theme.px(6));
  } else {
    bordered(rect, color(p.field), color(p.field_edge), theme.px(6));
  }
  text_in(theme, rect.inset(theme.px(8), 0), button_face(kind), enabled ? c.label : p.text_muted,
          label, Align::kCenter);
  return hit.clicked;
}

bool button_at_right(const Theme& theme, std::string_view name, state::Rect& row, ButtonKind kind,
                     std::string_view label, bool enabled) {
  const state::Rect box = row.take_right(button_width(theme, label, kind), theme.px(8));
  return button(theme, name, box, kind, label, enabled);
}

bool icon_button(const Theme& theme, std::string_view name, const state::Rect& rect, Shape icon,
                 bool enabled) {
  const state::Palette& p = theme.colors();
  const Hit hit = hit_area(theme, name, rect);
  if (hit.hovered && enabled) fill(rect, color(p.hover), theme.px(5));
  const state::Rgb ink = !enabled ? p.text_muted : hit.hovered ? p.text : p.text_secondary;
  shape(icon, rect, theme.px(11), color(ink));
  return enabled && hit.clicked;
}

void tick_box(const Theme& theme, const state::Rect& box, bool is_ticked, bool is_hovered,
              bool is_changed) {
  const state::Palette& p = theme.colors();
  fill(box, color(is_ticked ? p.primary : is_hovered ? p.hover : p.field), theme.px(4));
  if (is_ticked) shape(Shape::kCheck, box, box.w * 0.62f, color(p.on_primary));
  if (is_changed || !is_ticked) {
    outline(box, color(is_changed ? p.changed : p.idle_edge), theme.px(4));
  }
}

bool checkbox(const Theme& theme, std::string_view name, const state::Rect& rect, bool& value,
              bool changed) {
  const Hit hit = hit_area(theme, name, rect);
  const float side = std::min(rect.h, theme.px(16));
  const state::Rect box{rect.right() - side, rect.center_y() - side / 2, side, side};
  tick_box(theme, box, value, hit.hovered, changed);
  if (hit.clicked) value = !value;
  return hit.clicked;
}

BareField::BareField(const Theme& theme, const state::Rect& box) {
  ImFont* font = theme.font(Face::kMono);
  ImGui::PushFont(font);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      ImVec2(0, std::max(0.0f, (box.h - font->FontSize) / 2)));
  for (auto slot : {ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive}) {
    ImGui::PushStyleColor(slot, IM_COL32_BLACK_TRANS);
  }
  ImGui::SetCursorScreenPos({box.x, box.y});
  ImGui::SetNextItemWidth(std::max(1.0f, box.w));
}

BareField::~BareField() {
  ImGui::PopStyleColor(3);
  ImGui::PopStyleVar();
  ImGui::PopFont();
}

bool input_field(const Theme& theme, std::string_view name, const state::Rect& rect,
                 std::string& value, std::string_view unit, bool changed) {
  const state::Palette& p = theme.colors();
  field_surface(theme, rect, hovers(rect), changed);
  state::Rect inner = rect.inset(theme.px(8), 0);
  if (!unit.empty()) {
    const float width = label_in(theme, inner, Face::kSmall, p.text_muted, unit, Align::kRight);
    if (width > 0) inner.take_right(width, theme.px(6));
  }
  const BareField bare(theme, inner);
  ImGui::PushStyleColor(ImGuiCol_Text, color(changed ? p.changed : p.text));
  ImGui::PushID(name.data(), name.data() + name.size());
  std::string edited = value;
  FieldFocus focus(theme, name, rect);
  bool done = focus.gave_up("##input", &edited);
  std::string shown = edited;
  ImGui::InputText("##input", &shown, ImGuiInputTextFlags_AutoSelectAll);
  if (!done) edited = shown;
  done |= ImGui::IsItemDeactivatedAfterEdit();
  focus.after();
  ImGui::PopID();
  ImGui::PopStyleColor();
  if (done && edited != value) {
    value = edited;
    return true;
  }
  return false;
}

bool slider(const Theme& theme, std::string_view name, const state::Rect& rect, float& position,
            bool changed) {
  const state::Palette& p = theme.colors();
  const Hit hit = mouse_area(theme, name, rect);
  const float knob = theme.px(12), track = theme.px(4);
  const state::Rect rail{rect.x, rect.center_y() - track / 2, rect.w, track};
  bool moved = false;
  const auto move_to = [&](float at) {
    const float next = std::clamp(at, 0.0f, 1.0f);
    moved = next != position;
    position = next;
  };
  const bool has_ring = theme.focus != nullptr && !rect.empty();
  const int slid = has_ring ? theme.focus->visit(name, rect, true).slid : 0;
  if (slid != 0) move_to(position + kSliderKeyStep * static_cast<float>(slid));
  if (hit.held && rect.w > knob) {
    move_to((ImGui::GetIO().MousePos.x - rect.x - knob / 2) / (rect.w - knob));
  }
  const float x = rect.x + position * (rect.w - knob);
  fill(rail, color(p.field_edge), track / 2);
  fill({rail.x, rail.y, x - rail.x + knob / 2, track}, color(changed ? p.changed : p.accent),
       track / 2);
  fill({x, rect.center_y() - theme.px(7), knob, theme.px(14)},
       color(hit.hovered || hit.held ? p.text : p.text_secondary), theme.px(4));
  return moved;
}

namespace {

constexpr float kChoiceRow = 26, kFreeTextRow = 30, kHighestList = 400;

// Of a list below its field or, where it does not fit there and has more room, above it.
void place_list(const Theme& theme, const state::Rect& field, float width, float wanted) {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  const float gap = theme.px(2), edge = theme.px(8);
  const float above = field.y - gap - edge, below = display.y - edge - gap - field.bottom();
  const bool is_above = wanted > below && above > below;
  const float x = std::max(0.0f, std::min(field.x, display.x - width - edge));
  ImGui::SetNextWindowPos({x, is_above ? field.y - gap : field.bottom() + gap}, ImGuiCond_Always,
                          {0, is_above ? 1.0f : 0.0f});
  const float most = std::max(theme.px(kChoiceRow), is_above ? above : below);
  ImGui::SetNextWindowSizeConstraints({width, 0}, {width, std::min(theme.px(kHighestList), most)});
}

bool choices_list(const Theme& theme, std::string_view name, std::string& value,
                  std::span<const std::string_view> choices) {
  const state::Palette& p = theme.colors();
  const float row_height = theme.px(kChoiceRow);
  bool picked = false;
  for (const std::string_view choice : choices) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const state::Rect row{at.x, at.y, ImGui::GetContentRegionAvail().x, row_height};
    const Hit hit = hit_area(theme, std::string(name) + "/" + std::string(choice), row);
    if (hit.hovered) fill(row, color(p.hover), theme.px(4));
    state::Rect inner = row.inset(theme.px(8), 0);
    const state::Rect mark = inner.take_left(theme.px(16));
    if (choice == value) {
      shape(Shape::kCheck, mark.x + theme.px(5), mark.center_y(), theme.px(9), color(p.accent));
    }
    text_in(theme, inner, Face::kMono, p.text, choice);
    ImGui::Dummy({row.w, row_height});
    // A long list opens where it stands.
    if (choice == value && ImGui::IsWindowAppearing()) ImGui::SetScrollHereY(0.5f);
    if (hit.clicked) {
      value = std::string(choice);
      picked = true;
      ImGui::CloseCurrentPopup();
    }
  }
  return picked;
}

bool free_text(const Theme& theme, std::string_view name, std::string& value) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const state::Rect row{at.x, at.y + theme.px(4), ImGui::GetContentRegionAvail().x, theme.px(26)};
  const bool changed = input_field(theme, std::string(name) + "/text", row, value, "");
  ImGui::SetCursorScreenPos(at);
  ImGui::Dummy({row.w, row.h + theme.px(4)});
  if (changed) ImGui::CloseCurrentPopup();
  return changed;
}

}  // namespace

bool choice_field(const Theme& theme, std::string_view name, const state::Rect& rect,
                  std::string& value, std::span<const std::string_view> choices, bool open,
                  bool changed) {
  const state::Palette& p = theme.colors();
  const Hit hit = hit_area(theme, name, rect);
  field_surface(theme, rect, hit.hovered, changed);
  state::Rect inner = rect.inset(theme.px(8), 0);
  const state::Rect arrow = inner.take_right(theme.px(8), theme.px(6));
  shape(Shape::kDown, arrow, theme.px(7), color(p.text_secondary));
  // A path is known by its end.
  const std::string shown = present::elide_start(
      value, inner.w, [&](std::string_view part) { return text_width(theme, Face::kMono, part); });
  text_in(theme, inner, Face::kMono, changed ? p.changed : p.text, shown);

  const std::string popup = "choices of " + std::string(name);
  if (hit.clicked) ImGui::OpenPopup(popup.c_str());
  // A value may be wider than its field.
  float longest = 0;
  for (const auto choice : choices) {
    longest = std::max(longest, text_width(theme, Face::kMono, choice));
  }
  const float width = std::max({rect.w, theme.px(180), longest + theme.px(48)});
  const float wanted = theme.px(kChoiceRow) * static_cast<float>(choices.size()) +
                       theme.px((open ? kFreeTextRow : 0) + 2 * kPopupPadding);
  place_list(theme, rect, width, std::min(wanted, theme.px(kHighestList)));
  const PopupScope list(theme, popup.c_str());
  if (!list.is_open()) return false;
  bool picked = choices_list(theme, name, value, choices);
  if (open) picked |= free_text(theme, name, value);
  return picked;
}

namespace {

constexpr float kTooltipWidth = 320;

// Text by ImGui itself: a tooltip grows with what is put into it.
void wrapped(const Theme& theme, Face face, state::Rgb c, std::string_view text) {
  if (text.empty()) return;
  ImGui::PushFont(theme.font(face));
  ImGui::PushStyleColor(ImGuiCol_Text, color(c));
  const float width = theme.px(kTooltipWidth) - ImGui::GetCursorPosX();
  ImGui::BeginGroup();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2{0, 0});
  for (const std::string_view line : wrapped_lines(theme, face, width, text)) {
    ImGui::TextUnformatted(line.data(), line.data() + line.size());
  }
  ImGui::PopStyleVar();
  ImGui::EndGroup();
  if (theme.probe != nullptr) {
    const ImVec2 low = ImGui::GetItemRectMin(), high = ImGui::GetItemRectMax();
    const state::Rect rect{low.x, low.y, high.x - low.x, high.y - low.y};
    theme.probe->texts.push_back({std::string(text), rect, rect, theme.probe->layer});
  }
  ImGui::PopStyleColor();
  ImGui::PopFont();
}

}  // namespace

TooltipScope::TooltipScope(const Theme& theme) : theme_(theme) {
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(theme.px(12), theme.px(10)));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(theme.px(8), theme.px(4)));
  ImGui::BeginTooltip();
  if (theme.probe != nullptr) ++theme.probe->layer;
}

TooltipScope::~TooltipScope() {
  if (theme_.probe != nullptr) --theme_.probe->layer;
  ImGui::EndTooltip();
  ImGui::PopStyleVar(2);
}

void TooltipScope::title(std::string_view text) const {
  wrapped(theme_, Face::kStrong, theme_.colors().text, text);
}

void TooltipScope::row(const state::Rgb* swatch, std::string_view name,
                       std::string_view value) const {
  const state::Palette& p = theme_.colors();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = theme_.px(18);
  const float name_x = swatch != nullptr ? theme_.px(18) : 0;
  const float name_width = text_width(theme_, Face::kBody, name);
  const float value_width = text_width(theme_, Face::kMono, value);
  const float width = std::max(theme_.px(252), name_x + name_width + theme_.px(24) + value_width);
  if (swatch != nullptr) {
    const state::Rect box{at.x, at.y + (height - theme_.px(10)) / 2, theme_.px(10), theme_.px(10)};
    fill(box, color(*swatch), theme_.px(2));
    if (*swatch == p.idle) outline(box, color(p.idle_edge), theme_.px(2));
  }
  text_in(theme_, {at.x + name_x, at.y, name_width + 1, height}, Face::kBody, p.text_secondary,
          name);
  text_in(theme_, {at.x, at.y, width, height}, Face::kMono, p.text, value, Align::kRight);
  ImGui::Dummy({width, height});
}

void TooltipScope::note(std::string_view text) const {
  wrapped(theme_, Face::kSmall, theme_.colors().text_muted, text);
}

void tooltip(const Theme& theme, std::string_view title, std::string_view body,
             std::string_view source) {
  const TooltipScope scope(theme);
  scope.title(title);
  wrapped(theme, Face::kBody, theme.colors().text_secondary, body);
  scope.note(source);
}

void explain(const Theme& theme, const state::Rect& rect, std::string_view title,
             std::string_view body, std::string_view source) {
  if (hovers(rect)) tooltip(theme, title, body, source);
}

}  // namespace shardlens::ui::kit
