// What tests see of a frame: every text with the area it may use, everything that can be clicked.
// The program never sets one. Interface thread only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ui/state/geometry.h"

namespace shardlens::ui::kit {

class DrawProbe {
 public:
  struct Text {
    std::string text;
    state::Rect rect;  // of the glyphs
    state::Rect clip;  // outside of it nothing is seen
    int layer = 0;     // texts of different layers may lie over each other
  };
  struct Target {
    std::string name;
    state::Rect rect;
  };

  void begin_frame() {
    texts.clear();
    targets.clear();
    layer = 0;
  }
  const Target* find(std::string_view name) const {
    for (const Target& target : targets) {
      if (target.name == name) return &target;
    }
    return nullptr;
  }
  bool shows(std::string_view part) const {
    for (const Text& text : texts) {
      if (text.text.find(part) != std::string::npos) return true;
    }
    return false;
  }

  std::vector<Text> texts;
  std::vector<Target> targets;
  int layer = 0;
};

}  // namespace shardlens::ui::kit
