// A window without a display: drives MainView through frames, moves the mouse, presses keys, and
// can rasterise what was drawn. One at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/ui/testing/headless_context.h"
#include "ui/kit/draw_probe.h"
#include "ui/kit/keys.h"
#include "ui/window/main_view.h"

namespace shardlens::ui {

class HeadlessWindow {
 public:
  HeadlessWindow(int width, int height, state::ViewPreferences preferences = {});

  void resize(int width, int height) { context_.resize(width, height); }
  void frame(const state::Snapshot& snapshot);
  void frames(const state::Snapshot& snapshot, int count);

  // Each plays as many frames as a user would need; commands are collected.
  void move_to(const state::Snapshot& snapshot, float x, float y);
  void click_at(const state::Snapshot& snapshot, float x, float y, int button = 0);
  // By a probe's name; false: there is no such target, or it is outside of the window.
  bool click(const state::Snapshot& snapshot, std::string_view target, int button = 0);
  bool double_click(const state::Snapshot& snapshot, std::string_view target);
  bool drag(const state::Snapshot& snapshot, std::string_view target, float from, float to);
  void press(const state::Snapshot& snapshot, kit::Key key, bool control = false);
  void type(const state::Snapshot& snapshot, std::string_view text);
  void wheel(const state::Snapshot& snapshot, float amount);

  const kit::DrawProbe& probe() const { return probe_; }
  window::MainView& view() { return view_; }
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

  // RGBA, rows from the top, of the last frame.
  std::vector<std::uint8_t> pixels() const { return context_.pixels(); }
  int width() const { return context_.width(); }
  int height() const { return context_.height(); }

 private:
  HeadlessContext context_;
  window::MainView view_;
  kit::DrawProbe probe_;
  state::Commands commands_;
};

}  // namespace shardlens::ui
