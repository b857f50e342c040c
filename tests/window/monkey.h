// What a monkey does at a window: clicks, drags, keys, wheel turns, drops, run switches, live runs.
// Depends on its seed alone, but for where the controls are. Plain values, one thread.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ui/state/geometry.h"

namespace shardlens::window_test {

// One thing after another, with a frame after each.
struct Action {
  enum class Kind : std::uint8_t {
    kMove,
    kPress,
    kRelease,
    kKeyDown,
    kKeyUp,
    kType,
    kWheel,
    kDrop,
    kResize,
    kClose,  // the title bar's cross
    kFrames
  } kind = Kind::kFrames;
  int x = 0, y = 0;  // of the mouse, the wheel, the window
  int code = 0;      // GLFW's, of a key or a button; of kFrames: how many
  std::string text;  // typed, or dropped
};
using Trick = std::vector<Action>;
std::string describe(const Trick& trick);

struct Control {
  std::string name;
  ui::state::Rect rect;
};

class Monkey {
 public:
  // `files`: what it drops on the window, and where it looks for files that do not exist.
  Monkey(std::uint64_t seed, std::vector<std::string> files);

  // `controls`: those of the last frame.
  Trick next(const std::vector<Control>& controls);

 private:
  int number(int below);
  bool chance(int percent) { return number(100) < percent; }
  template <typename Choices>
  const auto& pick(const Choices& choices) {
    return choices[static_cast<std::size_t>(number(static_cast<int>(std::size(choices))))];
  }
  Action to_somewhere(const std::vector<Control>& controls);
  Action to_control(const std::vector<Control>& controls, std::string_view begins);
  void click(Trick& trick, int button, int times = 1);
  void key(Trick& trick, std::string_view name);
  void drag(Trick& trick, const std::vector<Control>& controls);
  void command(Trick& trick, std::string_view text);
  void switch_run(Trick& trick, const std::vector<Control>& controls);
  void resize(Trick& trick);
  void quit(Trick& trick);

  std::mt19937_64 random_;
  const std::vector<std::string> files_;
  int width_ = 1280, height_ = 800;
  int x_ = 0, y_ = 0;
};

}  // namespace shardlens::window_test
