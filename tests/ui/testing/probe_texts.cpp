#include "tests/ui/testing/probe_texts.h"

#include <algorithm>

namespace shardlens::ui {

std::vector<std::string> texts_in(const kit::DrawProbe& probe, const state::Rect& area, int layer) {
  std::vector<std::string> found;
  for (const auto& text : probe.texts) {
    if (text.layer == layer && area.contains(text.rect.center_x(), text.rect.center_y()))
      found.push_back(text.text);
  }
  return found;
}

std::vector<std::string> overlapping_texts_of(const kit::DrawProbe& probe) {
  const auto seen = [](const kit::DrawProbe::Text& text) {
    const float x = std::max(text.rect.x, text.clip.x), y = std::max(text.rect.y, text.clip.y);
    return state::Rect{x, y, std::min(text.rect.right(), text.clip.right()) - x,
                       std::min(text.rect.bottom(), text.clip.bottom()) - y};
  };
  std::vector<std::string> out;
  for (std::size_t i = 0; i < probe.texts.size(); ++i) {
    const state::Rect a = seen(probe.texts[i]);
    if (a.empty()) continue;
    for (std::size_t j = i + 1; j < probe.texts.size(); ++j) {
      const state::Rect b = seen(probe.texts[j]);
      if (probe.texts[i].layer != probe.texts[j].layer || b.empty() || !a.overlaps(b)) continue;
      const float w = std::min(a.right(), b.right()) - std::max(a.x, b.x);
      const float h = std::min(a.bottom(), b.bottom()) - std::max(a.y, b.y);
      if (w > 1.5f && h > 1.5f) out.push_back(probe.texts[i].text + " | " + probe.texts[j].text);
    }
  }
  return out;
}

}  // namespace shardlens::ui
