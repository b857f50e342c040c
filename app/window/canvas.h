// A picture off the screen, of any size that the graphics hardware can hold. Needs a current OpenGL
// context; main thread only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "trace/base/result.h"

namespace shardlens::app::window {

// Rows from the top, three bytes per pixel.
struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;
};

class Canvas {
 public:
  static trace::base::Result<Canvas> create(int width, int height);
  ~Canvas();
  Canvas(Canvas&& other) noexcept;
  Canvas& operator=(Canvas&&) = delete;

  // What is drawn from now on goes into the picture.
  void begin(float red, float green, float blue) const;
  Picture read() const;

 private:
  Canvas(int width, int height) : width_(width), height_(height) {}

  int width_ = 0, height_ = 0;
  unsigned framebuffer_ = 0, color_ = 0;
};

// What is drawn in the window at this moment, before it is swapped. `x`, `y`: of the area's upper
// left corner; what lies outside of the window is left out. `window_height`: in the same pixels.
Picture read_window(int x, int y, int width, int height, int window_width, int window_height);

trace::base::Result<void> write_png(const std::filesystem::path& file, const Picture& picture);

}  // namespace shardlens::app::window
