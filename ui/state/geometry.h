// Rectangles in pixels of the window, and how to cut them. Plain values, any thread.
#pragma once

#include <algorithm>

namespace shardlens::ui::state {

struct Rect {
  float x = 0, y = 0, w = 0, h = 0;

  float right() const { return x + w; }
  float bottom() const { return y + h; }
  float center_x() const { return x + w / 2; }
  float center_y() const { return y + h / 2; }
  bool empty() const { return w <= 0 || h <= 0; }
  bool contains(float px, float py) const {
    return px >= x && px < right() && py >= y && py < bottom();
  }
  bool overlaps(const Rect& other) const {
    return x < other.right() && other.x < right() && y < other.bottom() && other.y < bottom();
  }
  Rect inset(float dx, float dy) const {
    return {x + dx, y + dy, std::max(0.0f, w - 2 * dx), std::max(0.0f, h - 2 * dy)};
  }

  // Cut a strip off one side, with a gap behind it.
  Rect take_left(float width, float gap = 0) {
    width = std::min(width, w);
    const Rect strip{x, y, width, h};
    x += width + gap;
    w = std::max(0.0f, w - width - gap);
    return strip;
  }
  Rect take_right(float width, float gap = 0) {
    width = std::min(width, w);
    const Rect strip{right() - width, y, width, h};
    w = std::max(0.0f, w - width - gap);
    return strip;
  }
  Rect take_top(float height, float gap = 0) {
    height = std::min(height, h);
    const Rect strip{x, y, w, height};
    y += height + gap;
    h = std::max(0.0f, h - height - gap);
    return strip;
  }
  Rect take_bottom(float height, float gap = 0) {
    height = std::min(height, h);
    const Rect strip{x, bottom() - height, w, height};
    h = std::max(0.0f, h - height - gap);
    return strip;
  }
};

}  // namespace shardlens::ui::state
