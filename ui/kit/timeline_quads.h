// Many filled rectangles for little: vertices are written straight into the window's draw list.
// What was added is drawn at the latest when the object goes. Interface thread, inside a frame.
#pragma once

#include <imgui.h>

#include <array>
#include <cstddef>

#include "ui/state/geometry.h"

namespace shardlens::ui::kit {

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
  void add(const state::Rect& rect, ImU32 color) {
    add(rect.x, rect.y, rect.right(), rect.bottom(), color);
  }
  // Before anything else is to be drawn above.
  void flush() {
    if (count_ == 0) return;
    ImDrawList* list = ImGui::GetWindowDrawList();
    const int count = static_cast<int>(count_);
    list->PrimReserve(count * 6, count * 4);
    for (std::size_t i = 0; i < count_; ++i) {
      list->PrimRect(quads_[i].low, quads_[i].high, quads_[i].color);
    }
    count_ = 0;
  }

 private:
  struct Quad {
    ImVec2 low, high;
    ImU32 color;
  };
  std::array<Quad, 512> quads_;
  std::size_t count_ = 0;
};

// Rectangles side by side that look alike, put together to one.
class QuadRun {
 public:
  void add(QuadBatch& quads, float x0, float y0, float x1, float y1, ImU32 color) {
    if (x0 == x1_ && y0 == y0_ && y1 == y1_ && color == color_) {
      x1_ = x1;
      return;
    }
    end(quads);
    x0_ = x0;
    y0_ = y0;
    x1_ = x1;
    y1_ = y1;
    color_ = color;
  }
  void end(QuadBatch& quads) {
    quads.add(x0_, y0_, x1_, y1_, color_);
    x1_ = x0_;
  }

 private:
  float x0_ = 0, y0_ = 0, x1_ = 0, y1_ = 0;
  ImU32 color_ = 0;
};

}  // namespace shardlens::ui::kit
