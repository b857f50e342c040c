// Ctrl+K: every command and every knob, by typing. Interface thread, inside a frame.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"

namespace shardlens::ui::window {

struct Action {
  std::string title;
  std::string keys;  // "Ctrl+Enter"; may be ""
  std::function<void()> run;
  std::string words = {};  // by which it is found, too
  // Starts or ends something: found by `words` alone, and only where they are begun as written.
  bool is_weighty = false;
  std::string goes_on_with = {};  // what it puts into the field, to be typed on: "open "
};

class CommandPalette {
 public:
  // `query`: what stands in its field already, to be typed on.
  void open(std::string query = "");
  void close() { open_ = false; }
  bool is_open() const { return open_; }
  // `reveal_knob` shows a knob in its panel.
  void draw(const kit::Theme& theme, const state::Rect& window, const std::vector<Action>& actions,
            const std::function<void(std::string_view)>& reveal_knob, state::Commands& commands);

 private:
  struct Entry {
    std::string title, detail, keys;
    std::function<void()> run;
  };
  std::vector<Entry> entries(const std::vector<Action>& actions,
                             const std::function<void(std::string_view)>& reveal_knob,
                             state::Commands& commands) const;
  static void draw_no_match(const kit::Theme& theme, const state::Rect& row,
                            const std::string& query);
  void draw_list(const kit::Theme& theme, state::Rect rect, const std::vector<Entry>& shown);
  void move_with_keys(std::size_t count);

  bool open_ = false, focus_ = false, type_on_ = false;
  std::string query_;
  std::size_t selected_ = 0;
};

}  // namespace shardlens::ui::window
