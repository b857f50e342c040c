// Dear ImGui without a display, and a user who moves the mouse and presses keys: what windows and
// panels under test share. One at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "ui/kit/keys.h"
#include "ui/state/commands.h"

namespace shardlens::ui {

class HeadlessContext {
 public:
  using Frame = std::function<void()>;

  HeadlessContext(int width, int height);
  ~HeadlessContext();
  HeadlessContext(const HeadlessContext&) = delete;
  HeadlessContext& operator=(const HeadlessContext&) = delete;

  void resize(int width, int height);
  int width() const { return width_; }
  int height() const { return height_; }
  // Around what draws one frame.
  void play(const Frame& draw) const;

  // Each plays as many frames as a user would need.
  static void move_to(float x, float y, const Frame& frame);
  static void click_at(float x, float y, int button, const Frame& frame);
  static void press(kit::Key key, bool control, bool shift, const Frame& frame);
  static void type(std::string_view text, const Frame& frame);

  // RGBA, rows from the top, of the last frame.
  std::vector<std::uint8_t> pixels() const;

 private:
  int width_, height_;
};

// The first command of a type; nullptr: none.
template <typename T>
const T* find_command(const state::Commands& commands) {
  for (const state::Command& command : commands) {
    if (const T* found = std::get_if<T>(&command)) return found;
  }
  return nullptr;
}
// As a value; none: none.
template <typename T>
std::optional<T> first_command(const state::Commands& commands) {
  const T* found = find_command<T>(commands);
  return found == nullptr ? std::nullopt : std::optional<T>(*found);
}

}  // namespace shardlens::ui
