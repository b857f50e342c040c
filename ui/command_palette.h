// Ctrl+K: every command and every knob, by typing. Interface thread, inside a frame.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ui/commands.h"
#include "ui/theme.h"

namespace shardlens::ui {

struct Action {
  std::string title;
  std::string keys;  // "Ctrl+Enter"; may be ""
  std::function<void()> run;
};

class CommandPalette {
 public:
  void open();
  void close() { open_ = false; }
  bool is_open() const { return open_; }
  // `reveal_knob` shows a knob in its panel.
  void draw(const Look& look, const Rect& window, const std::vector<Action>& actions,
            const std::function<void(std::string_view)>& reveal_knob, Commands& commands);

 private:
  struct Entry {
    std::string title, detail, keys;
    std::function<void()> run;
  };
  std::vector<Entry> entries(const std::vector<Action>& actions,
                             const std::function<void(std::string_view)>& reveal_knob,
                             Commands& commands) const;
  void draw_list(const Look& look, Rect rect, const std::vector<Entry>& shown);
  void move_with_keys(std::size_t count);

  bool open_ = false, focus_ = false;
  std::string query_;
  std::size_t selected_ = 0;
};

}  // namespace shardlens::ui
