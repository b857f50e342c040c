// What a layer of a frame says within an area, in the order in which it was drawn.
#pragma once

#include <string>
#include <vector>

#include "ui/kit/draw_probe.h"

namespace shardlens::ui {

inline std::vector<std::string> texts_in(const kit::DrawProbe& probe, const state::Rect& area,
                                         int layer = 0) {
  std::vector<std::string> found;
  for (const auto& text : probe.texts) {
    if (text.layer == layer && area.contains(text.rect.center_x(), text.rect.center_y()))
      found.push_back(text.text);
  }
  return found;
}

}  // namespace shardlens::ui
