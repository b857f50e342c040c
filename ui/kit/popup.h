// What lies over the window, from where it is begun to the end of the scope. Interface thread,
// inside a frame.
#pragma once

#include "ui/kit/theme.h"

namespace shardlens::ui::kit {

inline constexpr float kPopupPadding = 4;

// ImGui::OpenPopup(id) opens it, a click beside it and Esc close it.
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

// A box over the whole window, which is dimmed behind it: help, command palette.
class Overlay {
 public:
  Overlay(const Theme& theme, const char* id, const state::Rect& window, const state::Rect& box);
  ~Overlay();
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  // Esc, or a click beside the box; neither while anything lies above it. A field that is being
  // edited is left first, unless all there is to do is to write into it.
  bool wants_to_close(bool while_writing = false) const;

 private:
  const Theme& theme_;
  state::Rect box_;
  bool has_popup_, is_on_top_ = true;
};

}  // namespace shardlens::ui::kit
