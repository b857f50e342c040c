#include "app/window/window_icon.h"

#include "ui/state/palette.h"

namespace shardlens::app::window {

namespace {

struct IconBar {
  int left, right, top, bottom;  // of a picture of 16 × 16
  ui::state::Rgb color;
};

}  // namespace

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

}  // namespace shardlens::app::window
