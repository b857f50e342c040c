// GLFW, an OpenGL context and Dear ImGui's context and backends, in the order in which they must
// begin and end. Main thread only; one at a time.
#pragma once

#include <memory>
#include <string>

#include "trace/base/result.h"

struct GLFWwindow;

namespace shardlens::app::window {

struct GraphicsOptions {
  std::string title = "Shardlens";
  // In screen coordinates; a visible window is at most as large as the screen.
  int width = 1600;
  int height = 1000;
  bool at_display_scale = false;  // as large as that for an interface of the display's own scale
  bool visible = true;
  bool maximized = false;
};

struct WindowSize {
  int width = 0, height = 0;

  bool operator==(const WindowSize&) const = default;
};
// What a visible window gets of what `options` wish for. `room`: of the largest screen; 0: nobody
// knows.
WindowSize size_on_screen(const GraphicsOptions& options, float display_scale, WindowSize room);

class Graphics {
 public:
  // Error kMissing without a display, or without OpenGL 3.3, says what to do.
  static trace::base::Result<std::unique_ptr<Graphics>> create(const GraphicsOptions& options);
  ~Graphics();
  Graphics(const Graphics&) = delete;
  Graphics& operator=(const Graphics&) = delete;

  GLFWwindow* window() const { return window_; }

 private:
  Graphics() = default;

  GLFWwindow* window_ = nullptr;
  bool has_interface_ = false;
};

}  // namespace shardlens::app::window
