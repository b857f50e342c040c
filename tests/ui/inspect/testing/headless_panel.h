// One panel in a window without a display: draws a function through frames, moves the mouse,
// presses keys, and can rasterise what was drawn. One at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/ui/testing/headless_context.h"
#include "tests/ui/testing/probe_texts.h"
#include "ui/kit/draw_probe.h"
#include "ui/kit/keys.h"
#include "ui/kit/theme.h"

namespace shardlens::ui::inspect {

class HeadlessPanel {
 public:
  using Draw = std::function<void(const kit::Theme&, const state::Rect&, state::Commands&)>;

  HeadlessPanel(int width, int height, float scale, state::ThemeKind kind, Draw draw);

  void frames(int count = 2);
  void move_to(float x, float y);
  void click_at(float x, float y, int button = 0);
  // By a probe's name; false: there is no such target.
  bool click(std::string_view target, int button = 0);
  bool hover(std::string_view target);
  void press(kit::Key key, bool control = false, bool shift = false);
  void type(std::string_view text);
  void wheel(float amount);

  const kit::DrawProbe& probe() const { return probe_; }
  state::Commands take_commands();
  // The first of a type among them; the others are dropped.
  template <typename T>
  std::optional<T> take() {
    return first_command<T>(take_commands());
  }
  template <typename T>
  static const T* find(const state::Commands& commands) {
    return find_command<T>(commands);
  }
  // RGBA of the last frame, rows from the top.
  std::vector<std::uint8_t> pixels() const { return context_.pixels(); }

 private:
  void frame();

  HeadlessContext context_;
  kit::Theme theme_;
  Draw draw_;
  kit::DrawProbe probe_;
  state::Commands commands_;
};

}  // namespace shardlens::ui::inspect
