// Pictures of the tabs below the timeline and of the details panel, from invented figures:
//   tables_gallery OUT.png [--size 1900x340] [--scale 1] [--light] [--ranks 8] [--tab
//   Kernels|…|SQL|Log|details]
//                  [--click TARGET] [--right TARGET] [--hover X,Y] [--state sample|error|empty]
#include <stb/stb_image_write.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/ui/inspect/testing/headless_panel.h"
#include "tests/ui/inspect/testing/sample_tables.h"
#include "ui/inspect/details/details_panel.h"
#include "ui/inspect/tabs/inspect_tabs.h"
#include "ui/kit/paint.h"

namespace shardlens::ui::inspect {

namespace {

struct GalleryOptions {
  std::string output = "tables.png", tab = "Kernels", state = "sample";
  std::vector<std::pair<std::string, int>> clicks;  // target, button
  int width = 1900, height = 340;
  float scale = 1, hover_x = -1, hover_y = -1;
  state::ThemeKind theme = state::ThemeKind::kDark;
  TablesOptions tables;
};

GalleryOptions parse(int argc, char** argv) {
  GalleryOptions out;
  if (argc > 1) out.output = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string key = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (key == "--light") out.theme = state::ThemeKind::kLight;
    if (key == "--size") std::sscanf(value, "%dx%d", &out.width, &out.height);
    if (key == "--scale") out.scale = std::strtof(value, nullptr);
    if (key == "--ranks") out.tables.ranks = std::atoi(value);
    if (key == "--tab") out.tab = value;
    if (key == "--state") out.state = value;
    if (key == "--click") out.clicks.emplace_back(value, 0);
    if (key == "--right") out.clicks.emplace_back(value, 1);
    if (key == "--hover") std::sscanf(value, "%f,%f", &out.hover_x, &out.hover_y);
  }
  return out;
}

int run(int argc, char** argv) {
  const GalleryOptions options = parse(argc, argv);
  state::Snapshot snapshot = tables_snapshot(options.tables);
  if (options.state == "error") {
    snapshot =
        with_view(snapshot, [](state::InspectView& view) { view.sql.answer = failed_answer(); });
  }
  if (options.state == "empty") {
    snapshot = with_view(snapshot, [](state::InspectView& view) {
      view.details = nullptr;
      view.sql.answer = nullptr;
    });
  }
  InspectTabs tabs;
  for (int i = 0; i < kInspectTabCount; ++i) {
    const auto tab = static_cast<InspectTab>(i);
    if (tab_title(tab) == options.tab) tabs.show(tab);
  }
  HeadlessPanel panel(
      options.width, options.height, options.scale, options.theme,
      [&](const kit::Theme& theme, const state::Rect& rect, state::Commands& commands) {
        kit::fill(rect, kit::color(theme.colors().window));
        const state::Rect area = rect.inset(theme.px(8), theme.px(8));
        if (options.tab == "details") return draw_details_panel(theme, area, snapshot, commands);
        tabs.draw(theme, area, snapshot, commands);
      });
  panel.frames(3);
  for (const auto& [target, button] : options.clicks) {
    if (!panel.click(target, button)) std::fprintf(stderr, "no target %s\n", target.c_str());
  }
  if (options.hover_x >= 0) panel.move_to(options.hover_x, options.hover_y);
  panel.frames(3);
  const auto pixels = panel.pixels();
  return stbi_write_png(options.output.c_str(), options.width, options.height, 4, pixels.data(),
                        options.width * 4) != 0
             ? 0
             : 1;
}

}  // namespace

}  // namespace shardlens::ui::inspect

int main(int argc, char** argv) { return shardlens::ui::run(argc, argv); }
