// A pop-up, from where it is begun to the end of the scope: ImGui::OpenPopup(id) opens it, a click
// beside it and Esc close it. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"

namespace shardlens::ui::kit {

inline constexpr float kPopupPadding = 4;

class PopupScope {
 public:
  PopupScope(const Theme& theme, const char* id);
  ~PopupScope();
  PopupScope(const PopupScope&) = delete;
  PopupScope& operator=(const PopupScope&) = delete;
  bool is_open() const { return open_; }

 private:
  const Theme& theme_;
  bool open_;
};

// Before one that comes up at the mouse: below what has the keyboard, where a key opened it.
void place_popup(const Theme& theme);
// Any is open: the keyboard is its own.
bool has_popup();

}  // namespace shardlens::ui::kit
