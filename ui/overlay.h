// A box over the whole window, which is dimmed behind it: help, command palette.
// Interface thread, inside a frame.
#pragma once

#include "ui/paint.h"

namespace shardlens::ui {

class Overlay {
 public:
  Overlay(const Look& look, const char* id, const Rect& window, const Rect& box);
  ~Overlay();
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  // Esc, or a click beside the box.
  bool wants_to_close() const;

 private:
  const Look& look_;
  Rect box_;
};

}  // namespace shardlens::ui
