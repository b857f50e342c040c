// A box over the whole window, which is dimmed behind it: help, command palette.
// Interface thread, inside a frame.
#pragma once

#include "ui/kit/paint.h"

namespace shardlens::ui::kit {

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
