// Pictures of the window from invented snapshots, to look at while working on panels:
//   ui_gallery OUT.png [--size 1600x1000] [--scale 1] [--light] [--present]
//              [--state sample|gpu|odd|empty|failed|installing|replay] [--press K|?] [--hover X,Y]
//              [--click X,Y]
#include <stb/stb_image_write.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/ui/headless_window.h"
#include "tests/ui/sample_snapshot.h"

namespace shardlens::ui {

namespace {

struct Options {
  std::string output, state = "sample", press;
  int width = 1600, height = 1000;
  float hover_x = -1, hover_y = -1, click_x = -1, click_y = -1;
  ViewPreferences preferences;
};

Options parse(int argc, char** argv) {
  Options out;
  out.output = argc > 1 ? argv[1] : "gallery.png";
  for (int i = 2; i < argc; ++i) {
    const std::string key = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (key == "--light") out.preferences.theme = ThemeKind::kLight;
    if (key == "--present") out.preferences.present_mode = true;
    if (key == "--size") std::sscanf(value, "%dx%d", &out.width, &out.height);
    if (key == "--scale") out.preferences.scale = std::strtof(value, nullptr);
    if (key == "--state") out.state = value;
    if (key == "--press") out.press = value;
    if (key == "--hover") std::sscanf(value, "%f,%f", &out.hover_x, &out.hover_y);
    if (key == "--click") std::sscanf(value, "%f,%f", &out.click_x, &out.click_y);
  }
  return out;
}

Snapshot snapshot_of(const std::string& state) {
  if (state == "empty") return empty_snapshot();
  if (state == "failed") return failed_snapshot();
  if (state == "installing") return installing_snapshot();
  if (state == "replay") return replay_snapshot();
  SampleOptions options;
  options.gpu = state == "gpu";
  options.odd = state == "odd";
  options.ranks = options.gpu ? 4 : 2;
  return sample_snapshot(options);
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const Snapshot snapshot = snapshot_of(options.state);
  HeadlessWindow window(options.width, options.height, options.preferences);
  window.frames(snapshot, 3);
  if (options.press == "K") window.press(snapshot, Key::kK, true);
  if (options.press == "?") window.type(snapshot, "?");
  if (options.click_x >= 0) window.click_at(snapshot, options.click_x, options.click_y);
  if (options.hover_x >= 0) window.move_to(snapshot, options.hover_x, options.hover_y);
  window.frames(snapshot, 3);
  const auto pixels = window.pixels();
  const int written = stbi_write_png(options.output.c_str(), options.width, options.height, 4,
                                     pixels.data(), options.width * 4);
  if (written == 0) std::fprintf(stderr, "error: cannot write %s\n", options.output.c_str());
  return written != 0 ? 0 : 1;
}

}  // namespace

}  // namespace shardlens::ui

int main(int argc, char** argv) { return shardlens::ui::run(argc, argv); }
