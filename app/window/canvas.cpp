#include "app/window/canvas.h"

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>
#include <stb_image_write.h>

#include <algorithm>
#include <string>
#include <utility>

namespace shardlens::app::window {

using trace::base::ErrorKind;
using trace::base::fail;

namespace {

// Of the framebuffer that is bound; `bottom` counts from below, as OpenGL does.
Picture read_pixels(int left, int bottom, int width, int height) {
  const auto row_bytes = static_cast<std::size_t>(width) * 3;
  std::vector<std::uint8_t> bottom_up(row_bytes * static_cast<std::size_t>(height));
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(left, bottom, width, height, GL_RGB, GL_UNSIGNED_BYTE, bottom_up.data());
  Picture picture{.width = width, .height = height, .rgb = {}};
  picture.rgb.resize(bottom_up.size());
  for (std::size_t row = 0; row < static_cast<std::size_t>(height); ++row) {
    const auto from = bottom_up.begin() + static_cast<std::ptrdiff_t>(row * row_bytes);
    std::copy_n(from, row_bytes,
                picture.rgb.end() - static_cast<std::ptrdiff_t>((row + 1) * row_bytes));
  }
  return picture;
}

}  // namespace

trace::base::Result<Canvas> Canvas::create(int width, int height) {
  GLint largest = 0;
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &largest);
  if (width < 1 || height < 1 || width > largest || height > largest) {
    return fail(ErrorKind::kUsage,
                "A picture of " + std::to_string(width) + "x" + std::to_string(height) +
                    " cannot be drawn: each side is 1 to " + std::to_string(largest) + " pixels.");
  }
  Canvas canvas(width, height);
  glGenFramebuffers(1, &canvas.framebuffer_);
  glBindFramebuffer(GL_FRAMEBUFFER, canvas.framebuffer_);
  glGenRenderbuffers(1, &canvas.color_);
  glBindRenderbuffer(GL_RENDERBUFFER, canvas.color_);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, canvas.color_);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
    return fail(ErrorKind::kIo, "The graphics driver refused a picture of " +
                                    std::to_string(width) + "x" + std::to_string(height) +
                                    ". Try a smaller --size.");
  }
  return canvas;
}

Canvas::Canvas(Canvas&& other) noexcept
    : width_(other.width_),
      height_(other.height_),
      framebuffer_(std::exchange(other.framebuffer_, 0)),
      color_(std::exchange(other.color_, 0)) {}

Canvas::~Canvas() {
  if (framebuffer_ != 0) glDeleteFramebuffers(1, &framebuffer_);
  if (color_ != 0) glDeleteRenderbuffers(1, &color_);
}

void Canvas::begin(float red, float green, float blue) const {
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glViewport(0, 0, width_, height_);
  glDisable(GL_SCISSOR_TEST);
  glClearColor(red, green, blue, 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

Picture Canvas::read() const {
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  return read_pixels(0, 0, width_, height_);
}

Picture read_window(int x, int y, int width, int height, int window_width, int window_height) {
  const int left = std::clamp(x, 0, window_width), top = std::clamp(y, 0, window_height);
  const int right = std::clamp(x + width, left, window_width);
  const int bottom = std::clamp(y + height, top, window_height);
  return read_pixels(left, window_height - bottom, right - left, bottom - top);
}

trace::base::Result<void> write_png(const std::filesystem::path& file, const Picture& picture) {
  if (stbi_write_png(file.c_str(), picture.width, picture.height, 3, picture.rgb.data(),
                     picture.width * 3) != 0) {
    return {};
  }
  return fail(ErrorKind::kIo,
              "Could not write " + file.string() + ". Does its folder exist, and is it writable?");
}

}  // namespace shardlens::app::window
