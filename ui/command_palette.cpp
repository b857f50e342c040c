#include "ui/command_palette.h"

#include <imgui.h>
#include <imgui_stdlib.h>

#include <algorithm>

#include "trace/model/settings.h"
#include "ui/keys.h"
#include "ui/overlay.h"
#include "ui/palette_match.h"
#include "ui/widgets.h"

namespace shardlens::ui {

namespace {

constexpr std::size_t kMostEntries = 10;

}  // namespace

void CommandPalette::open() {
  open_ = true;
  focus_ = true;
  query_.clear();
  selected_ = 0;
}

std::vector<CommandPalette::Entry> CommandPalette::entries(
    const std::vector<Action>& actions, const std::function<void(std::string_view)>& reveal_knob,
    Commands& commands) const {
  std::vector<Entry> all;
  for (const Action& action : actions) all.push_back({action.title, "", action.keys, action.run});
  for (const trace::Knob& knob : trace::knobs()) {
    all.push_back({"Setting: " + std::string(knob.label), std::string(knob.name), "",
                   [&reveal_knob, &knob] { reveal_knob(knob.name); }});
  }
  std::vector<std::string> texts;
  for (const Entry& entry : all) texts.push_back(entry.title + " " + entry.detail);
  std::vector<Entry> shown;
  const TypedAssignment typed = typed_assignment(query_);
  if (!typed.name.empty()) {
    shown.push_back({"Set " + typed.name + " to " + typed.value, "", "Enter", [&commands, typed] {
                       commands.push_back(SetKnob{typed.name, typed.value});
                     }});
  }
  for (const std::size_t i : best_matches(query_, texts)) {
    if (shown.size() == kMostEntries) break;
    shown.push_back(all[i]);
  }
  return shown;
}

void CommandPalette::move_with_keys(std::size_t count) {
  if (key_pressed(Key::kDown) && selected_ + 1 < count) ++selected_;
  if (key_pressed(Key::kUp) && selected_ > 0) --selected_;
  if (count > 0) selected_ = std::min(selected_, count - 1);
}

void CommandPalette::draw_list(const Look& look, Rect rect, const std::vector<Entry>& shown) {
  const Palette& p = look.colors();
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const Rect row = rect.take_top(look.px(30));
    const Hit hit = hit_area(look, "palette/" + shown[i].title, row);
    if (hit.hovered && (ImGui::GetIO().MouseDelta.x != 0 || ImGui::GetIO().MouseDelta.y != 0)) {
      selected_ = i;
    }
    if (i == selected_) fill(row, color(p.hover), look.px(5));
    Rect inner = row.inset(look.px(10), 0);
    const float keys =
        text_in(look, inner, Face::kMonoSmall, p.text_muted, shown[i].keys, Align::kRight);
    inner.take_right(keys, look.px(12));
    const float title = text_in(look, inner, Face::kBody, p.text, shown[i].title);
    inner.take_left(title, look.px(12));
    text_in(look, inner, Face::kSmall, p.text_muted, shown[i].detail);
    if (hit.clicked || (i == selected_ && enter_pressed())) {
      open_ = false;
      shown[i].run();
      return;
    }
  }
}

void CommandPalette::draw(const Look& look, const Rect& window, const std::vector<Action>& actions,
                          const std::function<void(std::string_view)>& reveal_knob,
                          Commands& commands) {
  if (!open_) return;
  const std::vector<Entry> shown = entries(actions, reveal_knob, commands);
  const float width = std::min(look.px(560), window.w - look.px(32));
  const float height = look.px(52) + look.px(30) * static_cast<float>(shown.size()) + look.px(8);
  const Rect box{window.center_x() - width / 2, window.y + look.px(72), width, height};
  const Overlay overlay(look, "##palette", window, box);
  Rect rest = box.inset(look.px(8), look.px(8));
  const Rect field = rest.take_top(look.px(34), look.px(6));
  ImGui::SetCursorScreenPos({field.x, field.y});
  ImGui::SetNextItemWidth(field.w);
  ImGui::PushFont(look.font(Face::kBody));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      ImVec2(look.px(10), (field.h - ImGui::GetFontSize()) / 2));
  if (focus_) ImGui::SetKeyboardFocusHere();
  focus_ = false;
  if (ImGui::InputTextWithHint("##query", "A command, a setting, or a setting and its value",
                               &query_)) {
    selected_ = 0;
  }
  ImGui::PopStyleVar();
  ImGui::PopFont();
  move_with_keys(shown.size());
  draw_list(look, rest, shown);
  if (overlay.wants_to_close()) open_ = false;
}

}  // namespace shardlens::ui
