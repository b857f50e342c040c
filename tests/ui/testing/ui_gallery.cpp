// Pictures of the window from invented snapshots, to look at while working on panels:
//   ui_gallery OUT.png [--size 1600x1000] [--scale 1] [--light] [--present]
//              [--state
//              sample|gpu|odd|dense|short|done|empty|failed|installing|replay|plan|plan-large|refused|no-card|
//              inspect|inspect-run|inspect-steps|inspect-search|sweep|sweep-grid|sweep-card]
//              [--press K|?] [--hover X,Y] [--click X,Y] [--zoom FACTOR] [--time FRAMES]
#include <stb/stb_image_write.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "tests/ui/inspect/testing/headless_panel.h"
#include "tests/ui/inspect/testing/inspect_window.h"
#include "tests/ui/inspect/testing/sample_tables.h"
#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "tests/ui/testing/sample_sweep.h"
#include "ui/sweep/sweep_panel.h"

namespace shardlens::ui {

namespace {

struct Options {
  std::string output, state = "sample", press;
  int width = 1600, height = 1000;
  float hover_x = -1, hover_y = -1, click_x = -1, click_y = -1;
  double zoom = 1;
  int timed_frames = 0;
  state::ViewPreferences preferences;
};

Options parse(int argc, char** argv) {
  Options out;
  out.output = argc > 1 ? argv[1] : "gallery.png";
  for (int i = 2; i < argc; ++i) {
    const std::string key = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (key == "--light") out.preferences.theme = state::ThemeKind::kLight;
    if (key == "--present") out.preferences.present_mode = true;
    if (key == "--size") std::sscanf(value, "%dx%d", &out.width, &out.height);
    if (key == "--scale") out.preferences.scale = std::strtof(value, nullptr);
    if (key == "--state") out.state = value;
    if (key == "--zoom") out.zoom = std::strtod(value, nullptr);
    if (key == "--time") out.timed_frames = std::atoi(value);
    if (key == "--press") out.press = value;
    if (key == "--hover") std::sscanf(value, "%f,%f", &out.hover_x, &out.hover_y);
    if (key == "--click") std::sscanf(value, "%f,%f", &out.click_x, &out.click_y);
  }
  return out;
}

state::Snapshot snapshot_of(const std::string& state) {
  if (state == "empty") return empty_snapshot();
  if (state == "failed") return failed_snapshot();
  if (state == "installing") return installing_snapshot();
  if (state == "replay") return replay_snapshot();
  if (state == "plan") return plan_snapshot();
  if (state == "refused") return plan_snapshot("llama-8b", trace::job::Strategy::kFullShard, true);
  if (state == "no-card") {
    state::Snapshot snapshot = plan_snapshot("gpt2", trace::job::Strategy::kFullShard, true);
    snapshot.plan = nullptr;
    return snapshot;
  }
  if (state == "sweep-card") {
    state::Snapshot snapshot = sample_snapshot({.live = false});
    auto card = sample_card();
    card.draft.axes.push_back({"sharding_strategy", "ddp, full_shard"});
    card.refused = {{"bucket_cap_mb=4, sharding_strategy=full_shard",
                     "reshard_after_forward: full_shard frees what it gathered"}};
    snapshot.sweep = sweep_card_view(card);
    return snapshot;
  }
  if (state == "plan-large") return plan_snapshot("llama-8b");
  SampleOptions options;
  options.gpu = state == "gpu";
  options.odd = state == "odd";
  options.ranks = options.gpu ? 4 : 2;
  if (state == "dense") {
    options.ranks = 8;
    options.operators = 2000;
  }
  if (state == "short" || state == "done") {
    options.live = false;
    options.steps = state == "short" ? 12 : 30;
  }
  return sample_snapshot(options);
}

// CPU time of building a frame, without the rasteriser.
void print_frame_time(HeadlessWindow& window, const state::Snapshot& snapshot, int frames) {
  const std::clock_t start = std::clock();
  window.frames(snapshot, frames);
  const double ms = 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  std::printf("%.2f ms of CPU per frame, %d frames\n", ms / frames, frames);
}

int write_picture(const HeadlessWindow& window, const std::string& output) {
  const auto pixels = window.pixels();
  const int written = stbi_write_png(output.c_str(), window.width(), window.height(), 4,
                                     pixels.data(), window.width() * 4);
  if (written == 0) std::fprintf(stderr, "error: cannot write %s\n", output.c_str());
  return written != 0 ? 0 : 1;
}

// A collective of the middle step is picked, and seen on every rank.
std::shared_ptr<trace::timeline::EventDetails> picked_details(const inspect::SampleRun& run) {
  auto details = std::make_shared<trace::timeline::EventDetails>(
      *inspect::sample_details(run.options().ranks));
  details->calls.clear();
  for (const trace::timeline::TimelineRow& row : run.rows().rows) {
    if (!row.label.starts_with("Reduce")) continue;
    const inspect::SampleEvent event = run.events(row.id, 301)[12];
    trace::timeline::EventPlace place{event.ref, event.start_ns, event.end_ns, row.id};
    details->calls.push_back(
        {row.rank, event.start_ns, event.latest_start_ns, event.end_ns, place});
    if (row.rank == 0) details->place = place;
  }
  return details;
}

void fill_view(inspect::InspectWindow& inspect, const std::string& state) {
  state::InspectView& view = inspect.change();
  view.range = inspect::sample_range({});
  if (state == "inspect") view.details = picked_details(inspect.run());
  if (state != "inspect-search") return;
  auto hits = std::make_shared<trace::timeline::NameHits>();
  hits->pattern.text = "nccl|blocks.1";
  hits->names = {{"reduce-scatter blocks.11", trace::timeline::EventTableKind::kCollective, 4'000,
                  61'000'000'000},
                 {"all-gather blocks.11", trace::timeline::EventTableKind::kCollective, 8'000,
                  72'000'000'000}};
  hits->count = 12'000;
  hits->is_complete = true;
  view.hits = hits;
}

// Three steps of the middle of a made-up run, the whole run, or steps one above the other.
int run_inspect(const Options& options) {
  inspect::InspectWindow inspect(options.width, options.height, options.preferences);
  inspect::TimelineState& state = inspect.state();
  const inspect::SampleRun& run = inspect.run();
  fill_view(inspect, options.state);
  inspect.settle();
  if (options.state == "inspect" || options.state == "inspect-search") {
    state.window.show(run.step_start(0, 300), run.step_end(0, 302));
    state.selection = inspect::TimeInterval{run.step_start(0, 301) + 415'000'000,
                                            run.step_start(0, 301) + 541'400'000};
  }
  if (options.state == "inspect-steps") {
    state.mode = inspect::TimelineState::Mode::kSteps;
    state.step_scroll = 118 * 86;
  }
  inspect.settle();
  state.shown_window().zoom(0.5, options.zoom);
  inspect.settle();
  HeadlessWindow& window = inspect.window();
  if (options.click_x >= 0) window.click_at(inspect.snapshot(), options.click_x, options.click_y);
  if (options.hover_x >= 0) window.move_to(inspect.snapshot(), options.hover_x, options.hover_y);
  inspect.settle();
  if (options.timed_frames > 0) print_frame_time(window, inspect.snapshot(), options.timed_frames);
  return write_picture(window, options.output);
}

int run_sweep(const Options& options) {
  state::Snapshot snapshot = sample_snapshot({.live = false});
  snapshot.sweep = sweep_view(options.state == "sweep" ? sample_sweep() : sample_grid_sweep());
  sweep::SweepPanel panel;
  inspect::HeadlessPanel window(
      options.width, options.height, options.preferences.scale, options.preferences.theme,
      [&](const kit::Theme& theme, const state::Rect& rect, state::Commands& commands) {
        panel.draw(theme, rect, snapshot, commands);
      });
  window.frames(3);
  if (options.click_x >= 0) window.click_at(options.click_x, options.click_y);
  if (options.hover_x >= 0) window.move_to(options.hover_x, options.hover_y);
  window.frames(2);
  const auto pixels = window.pixels();
  const int written = stbi_write_png(options.output.c_str(), options.width, options.height, 4,
                                     pixels.data(), options.width * 4);
  return written != 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.state == "sweep" || options.state == "sweep-grid") return run_sweep(options);
  if (options.state.starts_with("inspect")) return run_inspect(options);
  const state::Snapshot snapshot = snapshot_of(options.state);
  HeadlessWindow window(options.width, options.height, options.preferences);
  window.frames(snapshot, 3);
  if (options.press == "K") window.press(snapshot, kit::Key::kK, true);
  if (options.press == "?") window.type(snapshot, "?");
  window.view().workspace().timeline().state().step_window.zoom(0.5, options.zoom);
  if (options.click_x >= 0) window.click_at(snapshot, options.click_x, options.click_y);
  if (options.hover_x >= 0) window.move_to(snapshot, options.hover_x, options.hover_y);
  window.frames(snapshot, 3);
  if (options.timed_frames > 0) print_frame_time(window, snapshot, options.timed_frames);
  return write_picture(window, options.output);
}

}  // namespace

}  // namespace shardlens::ui

int main(int argc, char** argv) { return shardlens::ui::run(argc, argv); }
