// Where the parts of the Runs tab lie. Free of ImGui; any thread.
#pragma once

#include <cstddef>

#include "ui/state/geometry.h"

namespace shardlens::ui::compare {

struct CompareLayoutInput {
  state::Rect area;
  float scale = 1;
  std::size_t runs = 2;
  bool has_loss = false;
  bool has_caveat = false;
};

// Empty rectangles are not drawn.
struct CompareLayout {
  state::Rect chips, sentences, caveat, timelines, waterfall, table, loss;
  float timeline_height = 0;  // of each run; the gap between them is kTimelineGap
};

inline constexpr float kChipRow = 34, kSentenceRow = 30, kCaveatRow = 20, kTimelineGap = 4;

CompareLayout compare_layout(const CompareLayoutInput& input);

}  // namespace shardlens::ui::compare
