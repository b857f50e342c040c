#include "ui/inspect/sql/sql_editor.h"

#include <imgui.h>
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <utility>

#include "ui/inspect/sql/sql_words.h"
#include "ui/kit/paint.h"
#include "ui/kit/widgets.h"

namespace shardlens::ui::inspect {

namespace {

bool sticks(char c) { return is_word_character(c) || c == ',' || c == '"' || c == '\''; }

state::Rgb word_color(const state::Palette& p, SqlWordKind kind) {
  switch (kind) {
    case SqlWordKind::kKeyword:
      return p.accent_text;
    case SqlWordKind::kText:
      return p.good;
    case SqlWordKind::kNumber:
      return p.phase_optimizer_edge;
    case SqlWordKind::kComment:
      return p.text_muted;
    case SqlWordKind::kOther:
      break;
  }
  return p.text;
}

// How far ImGui has scrolled the field's text: its child window, and the line that is edited.
ImVec2 scroll_of_field(ImGuiID id) {
  ImVec2 scroll{0, 0};
  for (const ImGuiWindow* child : ImGui::GetCurrentWindow()->DC.ChildWindows) {
    if (child->ChildId == id) scroll.y = child->Scroll.y;
  }
  if (const ImGuiInputTextState* state = ImGui::GetInputTextState(id)) scroll.x = state->ScrollX;
  return scroll;
}

}  // namespace

std::string inserted_word(std::string_view text, int& cursor, std::string_view word) {
  const auto at = static_cast<std::size_t>(
      std::clamp<std::ptrdiff_t>(cursor, 0, static_cast<std::ptrdiff_t>(text.size())));
  std::string out(text.substr(0, at));
  if (!out.empty() && sticks(out.back())) out += ' ';
  out += word;
  cursor = static_cast<int>(out.size());
  if (at < text.size() && sticks(text[at])) out += ' ';
  out += text.substr(at);
  return out;
}

int SqlEditor::note_cursor(ImGuiInputTextCallbackData* data) {
  auto* editor = static_cast<SqlEditor*>(data->UserData);
  if (std::exchange(editor->restores_cursor_, false)) {
    data->CursorPos = std::clamp(editor->cursor_, 0, data->BufTextLen);
    data->ClearSelection();
  }
  editor->cursor_ = data->CursorPos;
  return 0;
}

void SqlEditor::set(std::string_view text, bool takes_keyboard) {
  text_ = std::string(text);
  cursor_ = static_cast<int>(text_.size());
  wants_keyboard_ = takes_keyboard;
}

void SqlEditor::insert(std::string_view word) {
  text_ = inserted_word(text_, cursor_, word);
  wants_keyboard_ = true;
}

void SqlEditor::draw_words(const kit::Theme& theme, const state::Rect& field,
                           const std::optional<SqlErrorPlace>& wrong, float scroll_x,
                           float scroll_y) const {
  const state::Palette& p = theme.colors();
  const ImFont* font = theme.font(kit::Face::kMono);
  const kit::Clip clip(field);
  const float advance = kit::text_width(theme, kit::Face::kMono, "0");
  float x = field.x - scroll_x, y = field.y - scroll_y;
  std::size_t at = 0;
  const auto skip_to = [&](std::size_t offset) {
    for (; at < offset; ++at) {
      const char c = text_[at];
      if (c == '\n') {
        x = field.x - scroll_x;
        y += font->FontSize;
      } else if (c == '\t') {
        x += kit::text_width(theme, kit::Face::kMono, "\t");
      } else if ((static_cast<unsigned char>(c) & 0xc0) != 0x80) {
        x += advance;
      }
    }
  };
  for (const SqlWord& word : sql_words(text_)) {
    skip_to(word.offset);
    const state::Rgb ink = word_color(p, word.kind);
    // A comment or a text may go on over lines.
    for (std::size_t part = word.offset; part < word.offset + word.length;) {
      const std::size_t end = std::min(text_.find('\n', part), word.offset + word.length);
      if (y + font->FontSize > field.y && y < field.bottom()) {
        ui::kit::text(theme, x, y + font->Ascent, kit::Face::kMono, ink,
                      std::string_view(text_).substr(part, end - part));
        if (wrong && part <= wrong->offset && wrong->offset < end) {
          kit::line(x, y + font->FontSize - 1, x + advance * static_cast<float>(wrong->length),
                    y + font->FontSize - 1, kit::color(p.danger), std::max(2.0f, theme.px(2)));
        }
      }
      part = end + (end < word.offset + word.length ? 1 : 0);
      skip_to(part);
    }
  }
  if (!active_) return;
  x = field.x - scroll_x;
  y = field.y - scroll_y;
  at = 0;
  skip_to(std::min(static_cast<std::size_t>(std::max(0, cursor_)), text_.size()));
  kit::line(x, y, x, y + font->FontSize, kit::color(p.text), std::max(1.0f, theme.px(1)));
}

bool SqlEditor::draw(const kit::Theme& theme, const state::Rect& rect, std::string_view hint,
                     const std::optional<SqlErrorPlace>& wrong) {
  const state::Palette& p = theme.colors();
  kit::bordered(rect, kit::color(p.field), kit::color(active_ ? p.accent : p.field_edge),
                theme.px(5));
  const state::Rect field = rect.inset(theme.px(8), theme.px(6));
  if (text_.empty() && !active_) {
    kit::text_in(theme, {field.x, field.y, field.w, theme.px(18)}, kit::Face::kMono, p.text_muted,
                 hint);
  }
  ImGui::PushFont(theme.font(kit::Face::kMono));
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, ImVec2(0, 0));
  for (auto slot : {ImGuiCol_FrameBg, ImGuiCol_FrameBgHovered, ImGuiCol_FrameBgActive,
                    ImGuiCol_ChildBg, ImGuiCol_Border}) {
    ImGui::PushStyleColor(slot, IM_COL32_BLACK_TRANS);
  }
  // Its text and cursor are drawn here, in colours.
  ImGui::PushStyleColor(ImGuiCol_Text, IM_COL32_BLACK_TRANS);
  ImGui::SetCursorScreenPos({field.x, field.y});
  if (std::exchange(wants_keyboard_, false)) {
    ImGui::SetKeyboardFocusHere();
    restores_cursor_ = true;
  }
  kit::FieldFocus focus(theme, "sql/editor", rect);
  focus.gave_up("##sql", &text_);
  const bool entered = ImGui::InputTextMultiline(
      "##sql", &text_, {std::max(1.0f, field.w), std::max(1.0f, field.h)},
      ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackAlways,
      &SqlEditor::note_cursor, this);
  focus.after();
  active_ = ImGui::IsItemActive();
  const ImVec2 scroll = scroll_of_field(ImGui::GetItemID());
  ImGui::PopStyleColor(6);
  ImGui::PopStyleVar();
  ImGui::PopFont();
  draw_words(theme, field, wrong, scroll.x, scroll.y);
  if (entered) wants_keyboard_ = active_ = true;  // Ctrl+Enter gives the keyboard away
  return entered;
}

}  // namespace shardlens::ui::inspect
