// The field in which a query is written. Interface thread, inside a frame.
#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <string_view>

#include "ui/inspect/sql/sql_result.h"
#include "ui/kit/theme.h"

namespace shardlens::ui::inspect {

class SqlEditor {
 public:
  // True: Ctrl+Enter was pressed in it. `wrong`: what is underlined.
  bool draw(const kit::Theme& theme, const state::Rect& rect, std::string_view hint,
            const std::optional<SqlErrorPlace>& wrong);

  const std::string& text() const { return text_; }
  void set(std::string_view text, bool takes_keyboard = true);
  // At the cursor, apart from the words beside it.
  void insert(std::string_view word);
  bool has_keyboard() const { return active_; }

 private:
  static int note_cursor(ImGuiInputTextCallbackData* data);
  void draw_words(const kit::Theme& theme, const state::Rect& field,
                  const std::optional<SqlErrorPlace>& wrong, float scroll_x, float scroll_y) const;

  std::string text_;
  int cursor_ = 0;  // bytes
  bool active_ = false;
  bool wants_keyboard_ = false;
  bool restores_cursor_ = false;  // ImGui begins at the start when it gets the keyboard
};

// `word` put into `text` at `cursor`, with a space where it would stick to a word beside it.
// `cursor` moves behind it.
std::string inserted_word(std::string_view text, int& cursor, std::string_view word);

}  // namespace shardlens::ui::inspect
