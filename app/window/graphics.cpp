#include "app/window/graphics.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace shardlens::app::window {

using trace::base::ErrorKind;
using trace::base::fail;

namespace {

std::string last_problem() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text == nullptr ? "unknown reason" : text;
}

void ask_for_context(const GraphicsOptions& options) {
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_VISIBLE, options.visible ? GLFW_TRUE : GLFW_FALSE);
  glfwWindowHint(GLFW_MAXIMIZED, options.maximized ? GLFW_TRUE : GLFW_FALSE);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "shardlens");
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "shardlens");
}

WindowSize largest_screen() {
  int count = 0;
  GLFWmonitor** const monitors = glfwGetMonitors(&count);
  WindowSize room;
  for (int i = 0; i < count; ++i) {
    int left = 0, top = 0, width = 0, height = 0;
    glfwGetMonitorWorkarea(monitors[i], &left, &top, &width, &height);
    room = {std::max(room.width, width), std::max(room.height, height)};
  }
  return room;
}

float primary_scale() {
  float across = 1, down = 1;
  if (auto* monitor = glfwGetPrimaryMonitor()) glfwGetMonitorContentScale(monitor, &across, &down);
  return across;
}

}  // namespace

// At most what a screen has room for: a first window, and one that was last open on another
// screen.
WindowSize size_on_screen(const GraphicsOptions& options, float display_scale, WindowSize room) {
  const float scale = options.at_display_scale ? display_scale : 1;
  const auto scaled = [scale](int length) {
    return static_cast<int>(std::lround(scale * static_cast<float>(length)));
  };
  const WindowSize wanted{scaled(options.width), scaled(options.height)};
  if (room.width <= 0 || room.height <= 0) return wanted;
  return {std::min(wanted.width, room.width), std::min(wanted.height, room.height)};
}

trace::base::Result<std::unique_ptr<Graphics>> Graphics::create(const GraphicsOptions& options) {
  if (glfwInit() != GLFW_TRUE) {
    return fail(ErrorKind::kMissing,
                "No display to draw on (" + last_problem() +
                    "). Put `xvfb-run -a` before the command to use a virtual one.");
  }
  std::unique_ptr<Graphics> graphics(new Graphics);
  ask_for_context(options);
  // Pictures are drawn off the screen and may be of any size.
  const WindowSize size = options.visible
                              ? size_on_screen(options, primary_scale(), largest_screen())
                              : WindowSize{options.width, options.height};
  graphics->window_ =
      glfwCreateWindow(size.width, size.height, options.title.c_str(), nullptr, nullptr);
  if (graphics->window_ == nullptr) {
    return fail(ErrorKind::kMissing,
                "The display offers no OpenGL 3.3 (" + last_problem() +
                    "). Put `xvfb-run -a` before the command to draw in software.");
  }
  glfwMakeContextCurrent(graphics->window_);
  ImGui::CreateContext();
  auto& io = ImGui::GetIO();
  io.IniFilename = nullptr;  // panels lie where the layout puts them
  io.LogFilename = nullptr;
  graphics->has_interface_ = true;
  return graphics;
}

Graphics::~Graphics() {
  if (has_interface_) ImGui::DestroyContext();
  if (window_ != nullptr) glfwDestroyWindow(window_);
  glfwTerminate();
}

}  // namespace shardlens::app::window
