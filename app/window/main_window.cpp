#include "app/window/main_window.h"

#define GLFW_INCLUDE_NONE
#include <GL/gl.h>
#include <GLFW/glfw3.h>
#include <backends/imgui_impl_glfw.h>
#include <backends/imgui_impl_opengl3.h>
#include <imgui.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "app/session/files/text_file.h"
#include "app/window/canvas.h"
#include "ui/state/palette.h"

namespace shardlens::app::window {

using namespace std::chrono_literals;

namespace {

struct IconBar {
  int left, right, top, bottom;  // of a picture of 16 × 16
  ui::state::Rgb color;
};

// `size` × `size` pixels of four bytes, rows from the top: three bars in the colours of computing,
// overlapped and exposed communication.
std::vector<std::uint8_t> draw_window_icon(int size) {
  const auto& palette = ui::state::palette(ui::state::ThemeKind::kDark);
  const IconBar bars[] = {{2, 11, 3, 6, palette.compute},
                          {5, 12, 7, 10, palette.overlapped},
                          {10, 14, 11, 14, palette.exposed}};
  std::vector<std::uint8_t> pixels;
  pixels.reserve(static_cast<std::size_t>(size) * static_cast<std::size_t>(size) * 4);
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      const int x = column * 16 / size, y = row * 16 / size;
      ui::state::Rgb color = palette.panel;
      for (const auto& bar : bars) {
        if (x >= bar.left && x < bar.right && y >= bar.top && y < bar.bottom) color = bar.color;
      }
      const bool corner = (x == 0 || x == 15) && (y == 0 || y == 15);
      const auto alpha = static_cast<std::uint8_t>(corner ? 0 : 255);
      pixels.insert(pixels.end(), {color.r, color.g, color.b, alpha});
    }
  }
  return pixels;
}

constexpr double kIdleWait = 1.0;  // seconds; news and input end it at once
constexpr double kCalmWait = 0.3;  // the view settles, yet nobody touches it
constexpr auto kBusyAfterInput = 400ms;
constexpr int kFramesPerInput = 2;  // ImGui answers some input in the frame after it
constexpr int kIconSize = 64;

MainWindow* window_of(GLFWwindow* handle) {
  return static_cast<MainWindow*>(glfwGetWindowUserPointer(handle));
}

}  // namespace

MainWindow::MainWindow(Graphics& graphics, session::Controller& controller,
                       ui::state::ViewPreferences preferences)
    : graphics_(graphics), controller_(controller), view_(std::move(preferences)) {
  glfwSwapInterval(1);
  auto pixels = draw_window_icon(kIconSize);
  const GLFWimage icon{.width = kIconSize, .height = kIconSize, .pixels = pixels.data()};
  glfwSetWindowIcon(graphics_.window(), 1, &icon);
  watch_input();  // first: the backend calls what was there before it
  ImGui_ImplGlfw_InitForOpenGL(graphics_.window(), true);
  queue_input();
  ImGui_ImplOpenGL3_Init("#version 330");
}

MainWindow::~MainWindow() {
  ImGui_ImplOpenGL3_Shutdown();
  ImGui_ImplGlfw_Shutdown();
  glfwHideWindow(graphics_.window());  // a job may take a moment to leave
  glfwSetWindowUserPointer(graphics_.window(), nullptr);
}

// By the title bar, or the window manager.
void MainWindow::ask_to_close() {
  auto* handle = graphics_.window();
  note_input();
  controller_.execute(ui::state::Quit{});
  // It is asked where one can see it.
  const bool is_hidden = glfwGetWindowAttrib(handle, GLFW_ICONIFIED) == GLFW_TRUE;
  if (is_hidden && !controller_.quit_requested()) glfwRestoreWindow(handle);
}

void MainWindow::note_input() {
  last_input_ = Clock::now();
  frames_wanted_ = kFramesPerInput;
}

void MainWindow::watch_input() {
  auto* handle = graphics_.window();
  glfwSetWindowUserPointer(handle, this);
  glfwSetCursorPosCallback(handle,
                           [](GLFWwindow* w, double, double) { window_of(w)->note_input(); });
  glfwSetScrollCallback(handle, [](GLFWwindow* w, double, double) { window_of(w)->note_input(); });
  glfwSetWindowFocusCallback(handle, [](GLFWwindow* w, int) { window_of(w)->note_input(); });
  glfwSetCursorEnterCallback(handle, [](GLFWwindow* w, int) { window_of(w)->note_input(); });
  glfwSetFramebufferSizeCallback(handle,
                                 [](GLFWwindow* w, int, int) { window_of(w)->note_input(); });
  glfwSetDropCallback(handle, [](GLFWwindow* w, int count, const char** paths) {
    window_of(w)->note_input();
    window_of(w)->controller_.execute(ui::state::OpenFiles{{paths, paths + count}});
    window_of(w)->view_.make_way_for_run();
  });
  glfwSetWindowRefreshCallback(handle, [](GLFWwindow* w) { window_of(w)->note_input(); });
  glfwSetWindowCloseCallback(handle, [](GLFWwindow* w) { window_of(w)->ask_to_close(); });
}

// In place of the backend's.
void MainWindow::queue_input() {
  auto* handle = graphics_.window();
  glfwSetKeyCallback(handle, [](GLFWwindow* w, int key, int scancode, int action, int modifiers) {
    window_of(w)->note_input();
    if (action == GLFW_REPEAT) return;
    const char* const printed = glfwGetKeyName(key, scancode);
    window_of(w)->input_.add_key(key, action == GLFW_PRESS, modifiers, printed);
  });
  glfwSetCharCallback(handle, [](GLFWwindow* w, unsigned character) {
    window_of(w)->note_input();
    window_of(w)->input_.add_character(character);
  });
  glfwSetMouseButtonCallback(handle, [](GLFWwindow* w, int button, int action, int) {
    double x = 0, y = 0;
    glfwGetCursorPos(w, &x, &y);
    window_of(w)->note_input();
    window_of(w)->input_.add_button(button, action == GLFW_PRESS, x, y);
  });
}

void MainWindow::wait_for_news() {
  const bool busy = frames_wanted_ > 0 || Clock::now() - last_input_ < kBusyAfterInput;
  if (!view_.wants_redraw() && frames_wanted_ == 0) {
    glfwWaitEventsTimeout(kIdleWait);
  } else if (busy) {
    glfwPollEvents();
  } else {
    glfwWaitEventsTimeout(kCalmWait);
  }
}

void MainWindow::turn() {
  wait_for_news();
  if (view_.inspects()) controller_.look_around();
  auto snapshot = controller_.snapshot();
  const bool is_new = snapshot != shown_;
  if (!is_new && frames_wanted_ == 0 && !view_.wants_redraw()) return;
  if (minimized()) {
    glfwWaitEventsTimeout(kIdleWait);
    return;
  }
  if (frames_wanted_ > 0) --frames_wanted_;
  shown_ = std::move(snapshot);
  name_window(*shown_);
  draw(*shown_);
}

bool MainWindow::minimized() const {
  int width = 0, height = 0;
  glfwGetFramebufferSize(graphics_.window(), &width, &height);
  return width == 0 || height == 0 ||
         glfwGetWindowAttrib(graphics_.window(), GLFW_ICONIFIED) == GLFW_TRUE;
}

void MainWindow::draw(const ui::state::Snapshot& snapshot) {
  if (view_.prepare_fonts(*ImGui::GetIO().Fonts) && has_renderer_) {
    ImGui_ImplOpenGL3_DestroyFontsTexture();
    ImGui_ImplOpenGL3_CreateFontsTexture();
  }
  has_renderer_ = true;  // the first frame makes the texture itself
  ImGui_ImplOpenGL3_NewFrame();
  ImGui_ImplGlfw_NewFrame();
  if (!input_.is_empty()) note_input();  // there may be more than one frame's
  input_.feed();
  ImGui::NewFrame();
  ui::state::Commands commands;
  view_.draw(snapshot, commands);
  ImGui::Render();
  int width = 0, height = 0;
  glfwGetFramebufferSize(graphics_.window(), &width, &height);
  glViewport(0, 0, width, height);
  const auto back = ui::state::palette(view_.preferences().theme).window;
  glClearColor(static_cast<float>(back.r) / 255, static_cast<float>(back.g) / 255,
               static_cast<float>(back.b) / 255, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  // Asked for by the frame before: what the user sees, without the button that is pressed.
  if (const auto wanted = controller_.take_wanted_picture()) save_picture(*wanted);
  glfwSwapBuffers(graphics_.window());
  ++frames_drawn_;
  carry_out(commands);
}

void MainWindow::carry_out(const ui::state::Commands& commands) {
  for (const auto& command : commands) controller_.execute(command);
  if (const auto text = controller_.take_copied_text()) {
    glfwSetClipboardString(graphics_.window(), text->c_str());
  }
  if (!commands.empty()) frames_wanted_ = kFramesPerInput;
}

void MainWindow::save_picture(const ui::state::SavePicture& wanted) {
  int width = 0, height = 0;
  glfwGetFramebufferSize(graphics_.window(), &width, &height);
  const ImVec2 dots = ImGui::GetIO().DisplayFramebufferScale;
  const auto pixels = [](float length, float scale) {
    return static_cast<int>(std::lround(length * scale));
  };
  const auto& area = wanted.area;
  const auto picture = read_window(pixels(area.x, dots.x), pixels(area.y, dots.y),
                                   pixels(area.w, dots.x), pixels(area.h, dots.y), width, height);
  const auto file = session::free_file_name(controller_.save_dir(), wanted.file_name);
  controller_.note_saved(write_png(file, picture).map([&] { return file; }));
}

void MainWindow::name_window(const ui::state::Snapshot& snapshot) {
  auto title =
      snapshot.run ? snapshot.run->figures.info.name + " · Shardlens" : std::string("Shardlens");
  if (title == title_) return;
  title_ = std::move(title);
  glfwSetWindowTitle(graphics_.window(), title_.c_str());
}

}  // namespace shardlens::app::window
