#include "ui/window/command_palette.h"

#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <utility>

#include "trace/job/settings/settings.h"
#include "ui/kit/keys.h"
#include "ui/kit/popup.h"
#include "ui/kit/widgets.h"
#include "ui/present/palette_match.h"

namespace shardlens::ui::window {

namespace {

constexpr std::size_t kMostEntries = 10;

}  // namespace

void CommandPalette::open(std::string query) {
  open_ = true;
  focus_ = true;
  query_ = std::move(query);
  type_on_ = !query_.empty();
  selected_ = 0;
}

std::vector<CommandPalette::Entry> CommandPalette::entries(
    const std::vector<Action>& actions, const std::function<void(std::string_view)>& reveal_knob,
    state::Commands& commands) const {
  std::vector<Entry> all;
  std::vector<present::Findable> findable;
  for (const Action& action : actions) {
    all.push_back({action.title, "", action.keys, action.run});
    findable.push_back({action.is_weighty ? "" : action.title, action.words, action.is_weighty});
  }
  for (const trace::job::Knob& knob : trace::job::knobs()) {
    all.push_back({"Setting: " + std::string(knob.label), std::string(knob.name), "",
                   [&reveal_knob, &knob] { reveal_knob(knob.name); }});
    findable.push_back({std::string(knob.label), std::string(knob.name)});
  }
  std::vector<Entry> shown;
  const present::TypedAssignment typed = present::typed_assignment(query_);
  if (!typed.name.empty()) {
    shown.push_back({"Set " + typed.name + " to " + typed.value, "", "Enter", [&commands, typed] {
                       commands.push_back(state::SetKnob{typed.name, typed.value});
                     }});
  }
  if (const std::string path = present::typed_path(query_); !path.empty()) {
    shown.push_back({"Open " + path, "a run, or a trace to import", "Enter",
                     [&commands, path] { commands.push_back(state::OpenFiles{{path}}); }});
  }
  for (const std::size_t i : present::best_matches(query_, findable)) {
    if (shown.size() == kMostEntries) break;
    const bool is_under_way = i < actions.size() && !actions[i].goes_on_with.empty() &&
                              query_.starts_with(actions[i].goes_on_with);
    if (!is_under_way) shown.push_back(all[i]);
  }
  return shown;
}

void CommandPalette::move_with_keys(std::size_t count) {
  if (kit::key_pressed(kit::Key::kDown) && selected_ + 1 < count) ++selected_;
  if (kit::key_pressed(kit::Key::kUp) && selected_ > 0) --selected_;
  if (count > 0) selected_ = std::min(selected_, count - 1);
}

void CommandPalette::draw_no_match(const kit::Theme& theme, const state::Rect& row,
                                   const std::string& query) {
  const bool opens = query.starts_with("open ") || query.starts_with("import ");
  const std::string said = opens ? "Go on with the path of a run, of a packed run or of a trace"
                                 : "No command and no setting matches “" + query + "”";
  kit::text_in(theme, row.inset(theme.px(10), 0), kit::Face::kBody, theme.colors().text_muted,
               said);
}

void CommandPalette::draw_list(const kit::Theme& theme, state::Rect rect,
                               const std::vector<Entry>& shown) {
  const state::Palette& p = theme.colors();
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const state::Rect row = rect.take_top(theme.px(30));
    const kit::Hit hit = kit::hit_area(theme, "palette/" + shown[i].title, row);
    if (hit.hovered && (ImGui::GetIO().MouseDelta.x != 0 || ImGui::GetIO().MouseDelta.y != 0)) {
      selected_ = i;
    }
    if (i == selected_) kit::fill(row, kit::color(p.hover), theme.px(5));
    state::Rect inner = row.inset(theme.px(10), 0);
    const float keys = kit::text_in(theme, inner, kit::Face::kMonoSmall, p.text_muted,
                                    shown[i].keys, kit::Align::kRight);
    inner.take_right(keys, theme.px(12));
    const float title = kit::text_in(theme, inner, kit::Face::kBody, p.text, shown[i].title);
    inner.take_left(title, theme.px(12));
    kit::text_in(theme, inner, kit::Face::kSmall, p.text_muted, shown[i].detail);
    if (hit.clicked || (i == selected_ && kit::enter_pressed())) {
      open_ = false;
      shown[i].run();
      return;
    }
  }
}

void CommandPalette::draw(const kit::Theme& theme, const state::Rect& window,
                          const std::vector<Action>& actions,
                          const std::function<void(std::string_view)>& reveal_knob,
                          state::Commands& commands) {
  if (!open_) return;
  std::vector<Entry> shown = entries(actions, reveal_knob, commands);
  const float width = std::min(theme.px(560), window.w - theme.px(32));
  const auto rows = static_cast<float>(std::max<std::size_t>(shown.size(), 1));
  const float height = theme.px(52) + theme.px(30) * rows + theme.px(8);
  const state::Rect box{window.center_x() - width / 2, window.y + theme.px(72), width, height};
  const kit::Overlay overlay(theme, "##palette", window, box);
  state::Rect rest = box.inset(theme.px(8), theme.px(8));
  const state::Rect field = rest.take_top(theme.px(34), theme.px(6));
  ImGui::SetCursorScreenPos({field.x, field.y});
  ImGui::SetNextItemWidth(field.w);
  ImGui::PushFont(theme.font(kit::Face::kBody));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                      ImVec2(theme.px(10), (field.h - ImGui::GetFontSize()) / 2));
  kit::forget_undo("##query", query_);
  if (focus_) ImGui::SetKeyboardFocusHere();
  focus_ = false;
  if (ImGui::InputTextWithHint("##query", "A command, a setting, or a setting and its value",
                               &query_)) {
    selected_ = 0;
    shown = entries(actions, reveal_knob, commands);  // in a box of the height of those before
  }
  // A field that gets the keyboard selects its text, which the next letter would replace.
  if (type_on_ && ImGui::IsItemActive()) {
    if (ImGuiInputTextState* state = ImGui::GetInputTextState(ImGui::GetItemID())) {
      state->ClearSelection();
      state->Stb.cursor = state->CurLenW;
      type_on_ = false;
    }
  }
  ImGui::PopStyleVar();
  ImGui::PopFont();
  move_with_keys(shown.size());
  draw_list(theme, rest, shown);
  if (shown.empty()) draw_no_match(theme, rest.take_top(theme.px(30)), query_);
  if (overlay.wants_to_close(true)) open_ = false;
}

}  // namespace shardlens::ui::window
