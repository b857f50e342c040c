#include <imgui.h>

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>
#include <vector>

#include "bench/benchmark.h"
#include "bench/headless_window.h"
#include "bench/trace/stages.h"

namespace shardlens::bench {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr float kWidth = 1600, kHeight = 1000;
constexpr int kFrames = 1200;
constexpr auto kFrameTime = 16'667us;
constexpr auto kLongestWait = 120s;

class Viewer {
 public:
  explicit Viewer(const std::filesystem::path& run) : window_(run, {kWidth, kHeight}) {
    ImGui::GetIO().MousePos = {kWidth * 0.45f, kHeight * 0.4f};
    ui::state::ViewPreferences preferences;
    preferences.workspace = ui::state::kInspectWorkspace;
    window_.view().set_preferences(preferences);
    window_.controller().look_around();
  }

  // Milliseconds of the interface thread.
  double frame() {
    const double begin = thread_cpu_ms();
    window_.draw();
    ImGui::GetIO().MouseWheel = 0;
    return thread_cpu_ms() - begin;
  }
  bool shows_a_picture() const { return shown() && shown()->inspect && shown()->inspect->picture; }
  bool has_read_everything() const {
    return shows_a_picture() && shown()->run && shown()->inspect->progress >= 1 &&
           shown()->inspect->range && !shown()->inspect->counting_range;
  }
  bool has_figures() const { return shown()->inspect && shown()->inspect->range; }
  double prepare_ms() const { return shown()->inspect->picture->prepare_ms; }
  const void* picture() const { return shown()->inspect->picture.get(); }

 private:
  const ui::state::Snapshot* shown() const { return window_.snapshot(); }

  HeadlessWindow window_;
};

// `pause`: between two frames. A window draws as often as its screen shows; more would take the
// time from those who read the run.
template <typename Condition>
void draw_until(Viewer& viewer, Condition condition, const char* what,
                std::chrono::microseconds pause = kFrameTime) {
  const auto begin = Clock::now();
  while (true) {
    viewer.frame();
    if (condition()) return;
    if (Clock::now() - begin > kLongestWait) throw std::runtime_error(what);
    std::this_thread::sleep_for(pause);
  }
}

// In to microseconds, along, out again, over and over: the pointer wanders so that every zoom goes
// somewhere else.
void steer(int frame) {
  constexpr int kLap = 240;
  const int at = frame % kLap;
  ImGuiIO& io = ImGui::GetIO();
  const float wander = 0.5f + 0.3f * std::sin(static_cast<float>(frame) * 0.11f);
  io.MousePos = {kWidth * (0.15f + 0.5f * wander), kHeight * 0.4f};
  io.KeysDown['D'] = at >= 90 && at < 120;
  io.KeysDown['A'] = at >= 120 && at < 140;
  if (at < 90) io.MouseWheel = 1;
  if (at >= 140 && at < 230) io.MouseWheel = -1;
}

}  // namespace

Figures measure_window(const std::filesystem::path& run) {
  Figures figures;
  const auto begin = Clock::now();
  Viewer viewer(run);
  draw_until(
      viewer, [&] { return viewer.shows_a_picture(); }, "no picture of the run came", 1ms);
  viewer.frame();
  figures["first_frame_s"] = std::chrono::duration<double>(Clock::now() - begin).count();
  figures["first_mib"] = resident_mib();
  draw_until(
      viewer, [&] { return viewer.has_figures(); }, "no figures of the run came");
  figures["first_figures_s"] = std::chrono::duration<double>(Clock::now() - begin).count();
  draw_until(
      viewer, [&] { return viewer.has_read_everything(); }, "the run was never read");
  figures["all_read_s"] = std::chrono::duration<double>(Clock::now() - begin).count();
  std::vector<double> frames, pictures;
  const void* seen = nullptr;
  auto next = Clock::now();
  for (int i = 0; i < kFrames; ++i) {
    steer(i);
    frames.push_back(viewer.frame());
    if (viewer.picture() != seen) pictures.push_back(viewer.prepare_ms());
    seen = viewer.picture();
    next += kFrameTime;
    std::this_thread::sleep_until(next);
  }
  figures["frame_p50_ms"] = quantile(frames, 0.5);
  figures["frame_p99_ms"] = quantile(frames, 0.99);
  figures["frame_max_ms"] = quantile(frames, 1);
  figures["picture_p50_ms"] = quantile(pictures, 0.5);
  figures["picture_p99_ms"] = quantile(pictures, 0.99);
  figures["resident_mib"] = resident_mib();
  return figures;
}

}  // namespace shardlens::bench
