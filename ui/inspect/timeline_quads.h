// Many filled rectangles for little: vertices are written straight into the window's draw list.
// What was added is drawn at the latest when the object goes. Interface thread, inside a frame.
#pragma once

#include <imgui.h>

#include <array>
#include <cstddef>

#include "ui/geometry.h"

namespace shardlens::ui {

class QuadBatch {
 public:
  QuadBatch() = default;
  ~QuadBatch() { flush(); }
  QuadBatch(const QuadBatch&) = delete;
  QuadBatch& operator=(const QuadBatch&) = delete;

  void add(float x0, float y0, float x1, float y1, ImU32 color) {
    if (x1 <= x0 || y1 <= y0) return;
    if (count_ == quads_.size()) flush();
    quads_[count_++] = {{x0, y0}, {x1, y1}, color};
  }
  void add(const Rect& rect, ImU32 color) {
    add(rect.x, rect.y, rect.right(), rect.bottom(), color);
  }
  // Before anything else is to be drawn above.
  void flush();

 private:
  struct Quad {
    ImVec2 low, high;
    ImU32 color;
  };
  std::array<Quad, 512> quads_;
  std::size_t count_ = 0;
};

}  // namespace shardlens::ui
