#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <thread>
#include <utility>

#include "app/launch/job_request.h"
#include "app/launch/program_files.h"
#include "app/launch/stop_signals.h"
#include "app/session/controller.h"
#include "app/window/graphics.h"
#include "app/window/main_window.h"
#include "app/window/preferences.h"
#include "app/window/window_main.h"
#include "ui/state/view_preferences.h"

namespace shardlens::app::window {

namespace {

// Turns SIGINT, SIGTERM and SIGHUP into an orderly end of the window, which may wait for a run's
// checkpoint; the second one ends the program, and with it the ranks, at once. Create it before any
// other thread starts: threads inherit which signals they leave alone.
class QuitSignals {
 public:
  // `on_signal` is called on another thread, once.
  explicit QuitSignals(std::function<void()> on_signal)
      : thread_([this, tell = std::move(on_signal)](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            if (!signals_.wait(std::chrono::milliseconds(300))) continue;
            if (arrived_.exchange(true)) _exit(EXIT_FAILURE);
            tell();
          }
        }) {}

  bool arrived() const { return arrived_; }

 private:
  launch::StopSignals signals_;  // before the thread, which inherits what is blocked
  std::atomic<bool> arrived_ = false;
  std::jthread thread_;
};

session::ControllerOptions controller_options(const WindowOptions& options,
                                              const Preferences& preferences) {
  session::ControllerOptions result;
  result.runs_dir = options.runs_dir;
  result.bundled_dir = launch::bundled_runs();
  result.lessons = options.lessons;
  if (!options.runs.empty()) result.run = options.runs.front();
  result.machine = session::this_machine();
  result.first_settings = launch::default_job(result.machine.cuda).settings;
  result.replay = options.replay;
  result.replay_speed = options.replay_speed > 0 ? options.replay_speed : preferences.replay_speed;
  result.home = options.home;
  result.trainer_status = options.trainer_status;
  result.trainer_found = [] { return launch::find_rank_program().has_value(); };
  return result;
}

// A display of fine dots begins at its own scale; later the user's choice holds.
void adopt_display_scale(GLFWwindow* window, Preferences& preferences) {
  float across = 1, down = 1;
  glfwGetWindowContentScale(window, &across, &down);
  preferences.view.scale = std::clamp(across, ui::state::kSmallestScale, ui::state::kLargestScale);
}

// Not the one in which the window was left, where that shows other runs than the named one.
void choose_workspace(const WindowOptions& options, std::string& workspace) {
  const bool names_any = !options.runs.empty() || !options.traces.empty();
  if (names_any && workspace != ui::state::kInspectWorkspace) {
    workspace = ui::state::kTuneWorkspace;
  }
}

void remember_size(GLFWwindow* window, Preferences& preferences) {
  preferences.maximized = glfwGetWindowAttrib(window, GLFW_MAXIMIZED) == GLFW_TRUE;
  if (preferences.maximized || glfwGetWindowAttrib(window, GLFW_ICONIFIED) == GLFW_TRUE) return;
  glfwGetWindowSize(window, &preferences.width, &preferences.height);
}

}  // namespace

trace::base::Result<void> run_window(const WindowOptions& options) {
  QuitSignals signals([] { glfwPostEmptyEvent(); });
  auto preferences = load_preferences(options.preferences);
  choose_workspace(options, preferences.view.workspace);
  std::error_code error;
  const bool first_start =
      options.preferences.empty() || !std::filesystem::exists(options.preferences, error);
  const auto graphics = Graphics::create({.width = preferences.width,
                                          .height = preferences.height,
                                          .at_display_scale = first_start,
                                          .maximized = preferences.maximized});
  if (!graphics) return tl::make_unexpected(graphics.error());
  auto* handle = (*graphics)->window();
  if (first_start) adopt_display_scale(handle, preferences);
  session::Controller controller(controller_options(options, preferences),
                                 [] { glfwPostEmptyEvent(); });
  if (!options.traces.empty()) {
    controller.execute(ui::state::OpenFiles{{options.traces.begin(), options.traces.end()}});
  }
  if (options.view && !options.compared.empty() && !options.runs.empty()) {
    std::vector<std::string> folders{options.runs.front().string()};
    for (const auto& run : options.compared) folders.push_back(run.string());
    controller.execute(ui::state::CompareRuns{std::move(folders), options.view->step});
  }
  {
    MainWindow window(**graphics, controller, preferences.view);
    if (options.view) window.go_to(*options.view);
    if (options.learns) window.open_lesson(options.lesson, options.page);
    while (!controller.quit_requested() && !signals.arrived()) window.turn();
    remember_size(handle, preferences);
    preferences.view = window.preferences();
    preferences.replay_speed = controller.replay_speed();
  }
  glfwHideWindow(handle);  // the end of a run may take a while
  return save_preferences(options.preferences, preferences);
}

}  // namespace shardlens::app::window
