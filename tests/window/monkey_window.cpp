// A monkey at the real window on a virtual screen:
//
//     python3 tests/e2e/support/virtual_screen.py build/asan/monkey/monkey --events 20000 --seed 7
//
// The window, GLFW's callbacks, Dear ImGui's backend, the session and the launcher are the
// program's; ranks are made up. What the mouse does is told to the program in place of GLFW, so
// that a second holds hundreds of clicks. What is done depends on the seed, which is printed. The
// program must not crash, stand still or say anything of a sanitizer, and must leave when asked to.
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <tuple>

#include "app/launch/job_request.h"
#include "app/launch/program_files.h"
#include "app/session/controller.h"
#include "app/session/jobs/strategy_planner.h"
#include "app/window/graphics.h"
#include "app/window/main_window.h"
#include "tests/window/monkey.h"
#include "trace/base/file_system.h"
#include "trace/store/upkeep/pack.h"
#include "trace/synthetic/synthetic_run.h"
#include "ui/kit/draw_probe.h"

namespace shardlens::window_test {

struct Mouse {
  double x = 0, y = 0;
  std::array<bool, 8> down{};
};

// What the functions below, which stand in for GLFW's, have to answer.
static Mouse mouse;

}  // namespace shardlens::window_test

// Dear ImGui's backend asks these where the mouse is; nobody moves the one of the virtual screen.
extern "C" void glfwGetCursorPos(GLFWwindow*, double* x, double* y) {
  if (x != nullptr) *x = shardlens::window_test::mouse.x;
  if (y != nullptr) *y = shardlens::window_test::mouse.y;
}
extern "C" int glfwGetMouseButton(GLFWwindow*, int button) {
  return shardlens::window_test::mouse.down.at(static_cast<std::size_t>(button)) ? GLFW_PRESS
                                                                                 : GLFW_RELEASE;
}

namespace shardlens::window_test {

namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr auto kTick = std::chrono::milliseconds(100);
constexpr int kStandsStill = 600;   // ticks for one trick, or for leaving
constexpr std::size_t kTrail = 40;  // tricks that are told after a failure

struct MonkeyOptions {
  std::uint64_t seed = 0;
  std::int64_t events = INT64_MAX;
  double seconds = 1e9;
};

// Calls what was registered for an event, as GLFW does.
template <typename Set, typename... Arguments>
void call_back(Set set, GLFWwindow* window, Arguments... arguments) {
  const auto registered = set(window, nullptr);
  set(window, registered);
  if (registered != nullptr) registered(window, arguments...);
}

class MonkeyWindow {
 public:
  explicit MonkeyWindow(const fs::path& folder) : folder_(folder) { open(); }

  void play(const Trick& trick) {
    for (const Action& action : trick) {
      begin(action);
      window_->turn();
    }
    if (controller_->quit_requested()) {
      frames_before_ += window_->frames_drawn();
      window_.reset();
      controller_.reset();
      graphics_.reset();
      open();
    }
  }
  std::vector<Control> controls() const {
    std::vector<Control> all;
    for (const auto& target : probe_.targets) {
      if (!target.rect.empty()) all.push_back({target.name, target.rect});
    }
    return all;
  }
  std::uint64_t frames() const { return frames_before_ + window_->frames_drawn(); }

 private:
  void open() {
    mouse = {};
    modifiers_ = 0;
    auto graphics = app::window::Graphics::create({.width = 1280, .height = 800});
    if (!graphics) throw std::runtime_error(graphics.error().message);
    graphics_ = std::move(*graphics);
    app::session::ControllerOptions options;
    options.runs_dir = folder_ / "runs";
    options.bundled_dir = app::launch::bundled_runs();
    options.save_dir = folder_;
    options.machine = app::session::this_machine();
    options.first_settings = app::launch::default_job(options.machine.cuda).settings;
    options.trainer_found = [] { return app::launch::find_rank_program().has_value(); };
    controller_ = std::make_unique<app::session::Controller>(options, [] { glfwPostEmptyEvent(); });
    window_ = std::make_unique<app::window::MainWindow>(*graphics_, *controller_,
                                                        ui::state::ViewPreferences{});
    window_->watch_with(&probe_);
    call_back(glfwSetCursorEnterCallback, handle(), GLFW_TRUE);
    for (int i = 0; i < 3; ++i) window_->turn();
  }
  GLFWwindow* handle() const { return graphics_->window(); }

  void begin(const Action& action) {
    using Kind = Action::Kind;
    switch (action.kind) {
      case Kind::kMove:
        mouse.x = action.x;
        mouse.y = action.y;
        return call_back(glfwSetCursorPosCallback, handle(), mouse.x, mouse.y);
      case Kind::kPress:
      case Kind::kRelease:
        mouse.down.at(static_cast<std::size_t>(action.code)) = action.kind == Kind::kPress;
        return call_back(glfwSetMouseButtonCallback, handle(), action.code,
                         action.kind == Kind::kPress ? GLFW_PRESS : GLFW_RELEASE, 0);
      case Kind::kKeyDown:
        return press(action.code, GLFW_PRESS);
      case Kind::kKeyUp:
        return press(action.code, GLFW_RELEASE);
      case Kind::kType:
        for (const char c : action.text) {
          call_back(glfwSetCharCallback, handle(), static_cast<unsigned>(c));
        }
        return;
      case Kind::kWheel:
        return call_back(glfwSetScrollCallback, handle(), static_cast<double>(action.x),
                         static_cast<double>(action.y));
      case Kind::kDrop: {
        const char* path = action.text.c_str();
        return call_back(glfwSetDropCallback, handle(), 1, &path);
      }
      case Kind::kResize:
        return glfwSetWindowSize(handle(), action.x, action.y);
      case Kind::kClose:
        return call_back(glfwSetWindowCloseCallback, handle());
      case Kind::kFrames:
        for (int i = 0; i < action.code; ++i) {
          call_back(glfwSetWindowRefreshCallback, handle());  // lest it sleeps
          window_->turn();
        }
        return;
    }
  }
  void press(int key, int what) {
    const int bit = key == GLFW_KEY_LEFT_CONTROL ? GLFW_MOD_CONTROL
                    : key == GLFW_KEY_LEFT_SHIFT ? GLFW_MOD_SHIFT
                                                 : 0;
    modifiers_ = what == GLFW_PRESS ? modifiers_ | bit : modifiers_ & ~bit;
    call_back(glfwSetKeyCallback, handle(), key, 0, what, modifiers_);
  }

  const fs::path folder_;
  std::unique_ptr<app::window::Graphics> graphics_;
  std::unique_ptr<app::session::Controller> controller_;
  ui::kit::DrawProbe probe_;
  std::unique_ptr<app::window::MainWindow> window_;
  std::uint64_t frames_before_ = 0;
  int modifiers_ = 0;
};

template <typename Value>
Value expected(trace::base::Result<Value> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<Value>) return std::move(*result);
}

// Aborts the thread that made it, whose stack the sanitizer shows, once it has done nothing for a
// minute. Counted in ticks: a machine that slept, or held us still, does not count.
class Patience {
 public:
  Patience() : worker_([this](const std::stop_token& stop) { watch(stop); }) {}
  void renew() { ticks_ = 0; }

 private:
  void watch(const std::stop_token& stop) {
    while (!stop.stop_requested() && ++ticks_ < kStandsStill) std::this_thread::sleep_for(kTick);
    if (stop.stop_requested()) return;
    std::cout << "It stands still for a minute" << std::endl;
    pthread_kill(watched_, SIGABRT);
  }

  const pthread_t watched_ = pthread_self();
  std::atomic<int> ticks_ = 0;
  std::jthread worker_;  // last: it uses the others
};

// One rank, several, and more than fit on a screen; returns what may be dropped on the window.
std::vector<std::string> make_library(const fs::path& folder) {
  fs::path eight;
  constexpr std::array kRuns{std::tuple{"one", 1, 20'000}, std::tuple{"eight", 8, 200'000},
                             std::tuple{"many", 32, 300'000}};
  for (const auto& [name, ranks, events] : kRuns) {
    trace::synthetic::SyntheticRunOptions options;
    options.name = name;
    options.ranks = ranks;
    options.events = events;
    const auto run = expected(trace::synthetic::generate_run(folder / "runs", options));
    if (ranks == 8) eight = run.folder;
  }
  expected(trace::store::pack_run(eight, folder / "packed.shardlens"));
  fs::copy_file(folder / "packed.shardlens", folder / "cut.shardlens");
  fs::resize_file(folder / "cut.shardlens", fs::file_size(folder / "cut.shardlens") / 2);
  std::ofstream(folder / "words.txt") << "not a trace\n";
  std::ofstream(folder / "trace.json")
      << R"({"distributedInfo": {"rank": 0, "world_size": 1}, "traceEvents": [
    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1000.0, "dur": 5.0,
     "args": {"device": 0, "stream": 7, "correlation": 1}}]})";
  std::ofstream(folder / "cut.json") << R"({"traceEvents": [{"ph": "X", "cat": "ker)";
  std::vector<std::string> files{eight.string(), folder.string()};
  for (const char* name : {"packed.shardlens", "cut.shardlens", "words.txt", "trace.json",
                           "cut.json", "there is none.json"}) {
    files.push_back((folder / name).string());
  }
  return files;
}

int play(const MonkeyOptions& options, const fs::path& folder) {
  Monkey monkey(options.seed, make_library(folder));
  std::ofstream trail(folder / "trail");
  Patience patience;  // gone after the window, which must leave, too
  MonkeyWindow window(folder);
  const auto began = Clock::now();
  const auto seconds = [&](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  double longest = 0;
  std::int64_t done = 0;
  for (; done < options.events && seconds(began) < options.seconds; ++done) {
    const Trick trick = monkey.next(window.controls());
    trail << done << ": " << describe(trick) << std::endl;
    patience.renew();
    const auto before = Clock::now();
    window.play(trick);
    longest = std::max(longest, seconds(before));
  }
  patience.renew();
  std::printf("%lld events in %.0f s, %llu frames, the longest took %.1f s\n",
              static_cast<long long>(done), seconds(began),
              static_cast<unsigned long long>(window.frames()), longest);
  std::fflush(stdout);
  return 0;
}

void tell_trail(const fs::path& folder) {
  std::ifstream input(folder / "trail");
  std::vector<std::string> lines;
  for (std::string line; std::getline(input, line);) lines.push_back(std::move(line));
  const auto first = lines.size() - std::min(lines.size(), kTrail);
  std::cout << "The last of " << lines.size() << " events:\n";
  for (auto i = first; i < lines.size(); ++i) std::cout << "  " << lines[i] << "\n";
}

std::string ending_of(int status) {
  if (WIFSIGNALED(status)) return std::string("it died of ") + strsignal(WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  return code == 0 ? "" : "it ended with exit code " + std::to_string(code);
}

// In a process of its own, so that its end can be told.
int watch(const MonkeyOptions& options, const char* program) {
  const auto folder = expected(trace::base::TemporaryFolder::create());
  std::cout << "seed " << options.seed << std::endl;
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    try {
      std::exit(play(options, folder.path()));
    } catch (const std::exception& error) {
      std::cout << error.what() << std::endl;
      std::_Exit(1);  // the folder with the trail is the other process's
    }
  }
  int status = 0;
  waitpid(child, &status, 0);
  const std::string ending = ending_of(status);
  if (ending.empty()) return 0;
  std::cout << ending << ". Again:\n  python3 -B tests/e2e/support/virtual_screen.py " << program
            << " --seed " << options.seed << "\n";
  tell_trail(folder.path());
  return 1;
}

}  // namespace

}  // namespace shardlens::window_test

int main(int argc, char** argv) {
  using namespace shardlens::window_test;
  MonkeyOptions options;
  options.seed = std::random_device{}();
  CLI::App app("A monkey at the window");
  app.add_option("--seed", options.seed);
  app.add_option("--events", options.events);
  app.add_option("--seconds", options.seconds);
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    return watch(options, argv[0]);
  } catch (const std::exception& error) {
    std::cout << error.what() << "\n";
    return 1;
  }
}
