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
  bool visible = true;
  bool maximized = false;
};

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
