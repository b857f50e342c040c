// How soon the window shows what was recorded, and what it costs while nothing happens. Draws in a
// real window where there is a display (`xvfb-run -a` makes one); without one it measures as far as
// the snapshot that the window would draw.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "app/session/controller.h"
#include "app/window/graphics.h"
#include "app/window/main_window.h"
#include "bench/benchmark.h"
#include "trace/base/file_system.h"
#include "trace/base/wall_clock.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/write/trace_writer.h"

namespace shardlens::bench {
namespace {

using namespace std::chrono_literals;
using namespace app;
namespace fs = std::filesystem;

constexpr int kSteps = 40;
constexpr auto kSettle = 5s;  // the last files read, the last frame drawn
constexpr auto kIdle = 8s;

// One rank that reports a step at uneven moments, so that the writer's and the reader's rhythms
// are met at every phase.
class Recorder {
 public:
  explicit Recorder(const fs::path& runs_dir) {
    info_.name = "live";
    info_.device = "cpu";
    info_.world_size = 1;
    info_.start_ns = trace::base::wall_clock_ns();
    folder_ = must(trace::store::create_run(runs_dir, info_, false));
    writer_ = must(trace::store::TraceWriter::create(trace::store::rank_file(folder_, 0), 0));
    trace::model::Batch first;
    first.rank_info = trace::model::RankInfo{};
    first.rank_info->device = "cpu";
    writer_->submit(std::move(first));
  }
  void step(std::int64_t index) {
    const auto now = trace::base::wall_clock_ns();
    trace::model::Batch batch;
    trace::model::Step step;
    step.index = index;
    step.start_ns = now - 50'000'000;
    step.end_ns = now;
    step.tokens = 1024;
    batch.steps = {step};
    batch.heartbeat =
        trace::model::Heartbeat{.rank = 0, .alive_ns = now, .progress_ns = now, .step = index};
    writer_->submit(std::move(batch));
  }
  void finish() {
    must(writer_->close());
    info_.status = trace::model::RunStatus::kDone;
    info_.end_ns = trace::base::wall_clock_ns();
    must(trace::store::update_run(folder_, info_));
  }
  const fs::path& folder() const { return folder_; }

 private:
  trace::model::RunInfo info_;
  fs::path folder_;
  std::unique_ptr<trace::store::TraceWriter> writer_;
};

class Stopwatches {
 public:
  void began(std::int64_t now_ns) {
    const std::lock_guard lock(mutex_);
    began_ns_.push_back(now_ns);
  }
  // All steps up to `count` can be seen.
  void seen(std::size_t count, std::int64_t now_ns) {
    const std::lock_guard lock(mutex_);
    while (latencies_ms_.size() < std::min(count, began_ns_.size())) {
      latencies_ms_.push_back(static_cast<double>(now_ns - began_ns_[latencies_ms_.size()]) / 1e6);
    }
  }
  std::size_t finished() const {
    const std::lock_guard lock(mutex_);
    return latencies_ms_.size();
  }
  std::vector<double> latencies_ms() const {
    const std::lock_guard lock(mutex_);
    return latencies_ms_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::int64_t> began_ns_;
  std::vector<double> latencies_ms_;
};

// The window, or, without a display, what would feed it.
class Viewer {
 public:
  Viewer(const fs::path& runs_dir, const fs::path& run) {
    if (auto graphics = app::window::Graphics::create({.width = 1280, .height = 800})) {
      graphics_ = std::move(*graphics);
    }
    app::session::ControllerOptions options;
    options.runs_dir = runs_dir;
    options.run = run;
    controller_ = std::make_unique<app::session::Controller>(options, [this] { wake(); });
    if (graphics_) {
      window_ = std::make_unique<app::window::MainWindow>(*graphics_, *controller_,
                                                          ui::state::ViewPreferences{});
    }
  }
  ~Viewer() {
    window_.reset();
    controller_.reset();
  }
  bool draws() const { return window_ != nullptr; }
  // Waits for something new, at most about a second; how many steps can be seen then.
  std::size_t turn() {
    std::shared_ptr<const ui::state::Snapshot> shown;
    if (window_) {
      window_->turn();
      shown = window_->shown();
    } else {
      std::unique_lock lock(mutex_);
      news_.wait_for(lock, 1s, [this] { return std::exchange(woken_, false); });
      lock.unlock();
      shown = controller_->snapshot();
    }
    return shown && shown->run ? shown->run->figures.steps.size() : 0;
  }

 private:
  void wake() {
    if (graphics_) {
      glfwPostEmptyEvent();
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      woken_ = true;
    }
    news_.notify_one();
  }

  std::unique_ptr<app::window::Graphics> graphics_;
  std::unique_ptr<app::session::Controller> controller_;
  std::unique_ptr<app::window::MainWindow> window_;
  std::mutex mutex_;
  std::condition_variable news_;
  bool woken_ = false;
};

void measure_latency(Viewer& viewer, Recorder& recorder, Stopwatches& watches) {
  std::jthread training([&] {
    for (int step = 0; step < kSteps; ++step) {
      std::this_thread::sleep_for(130ms + 7ms * (step % 11));
      watches.began(trace::base::wall_clock_ns());
      recorder.step(step);
    }
  });
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (watches.finished() < kSteps && std::chrono::steady_clock::now() < deadline) {
    const auto count = viewer.turn();
    watches.seen(count, trace::base::wall_clock_ns());
  }
  if (watches.finished() < kSteps) throw std::runtime_error("steps were never shown");
}

double measure_idle_percent(Viewer& viewer) {
  const auto settled = std::chrono::steady_clock::now() + kSettle;
  while (std::chrono::steady_clock::now() < settled) viewer.turn();
  const auto began = std::chrono::steady_clock::now();
  const double before = seconds_on(CLOCK_PROCESS_CPUTIME_ID);
  while (std::chrono::steady_clock::now() < began + kIdle) viewer.turn();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
  return 100 * (seconds_on(CLOCK_PROCESS_CPUTIME_ID) - before) / passed.count();
}

}  // namespace
}  // namespace shardlens::bench

int main(int argc, char** argv) {
  using namespace shardlens::bench;
  CLI::App arguments{"How soon the window shows what was recorded, and what it costs when idle."};
  CLI11_PARSE(arguments, argc, argv);
  return exit_code_of([] {
    const auto folder = must(shardlens::trace::base::TemporaryFolder::create());
    Recorder recorder(folder.path());
    Viewer viewer(folder.path(), recorder.folder());
    Stopwatches watches;
    measure_latency(viewer, recorder, watches);
    recorder.finish();
    const double idle = measure_idle_percent(viewer);
    const std::string road = viewer.draws() ? "event to pixel" : "event to snapshot (no display)";
    const std::vector<double> times = watches.latencies_ms();
    const double p95 = quantile(times, 0.95);
    print_rows({{road + ", median", quantile(times, 0.5), "ms"},
                {road + ", 95th percentile", p95, "ms", "<= 250 ms", p95 <= 250},
                {road + ", maximum", quantile(times, 1), "ms"},
                {viewer.draws() ? "idle window, CPU" : "idle session, CPU (no display)", idle,
                 "% of a core", "< 1 % of a core", idle < 1}});
  });
}
