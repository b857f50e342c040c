// Where the parts of the Runs tab lie. Free of ImGui; any thread.
#pragma once

#include <cstddef>
#include <vector>

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
  float sentence_height = 0;  // of each run but the base
  // Of each run; the gap between them is kTimelineGap. All of them may be higher than `timelines`,
  // which is then scrolled.
  float timeline_height = 0;
};

inline constexpr float kChipRow = 34, kCaveatRow = 20, kTimelineGap = 4;
inline constexpr float kLowestTimeline = 82;  // title, axis and two ribbons

CompareLayout compare_layout(const CompareLayoutInput& input);

// Centres of labels of this height, moved apart so that they lie side by side between `low` and
// `high`, in the order of their wishes and as near to them as may be; closer where there is no
// room.
std::vector<float> moved_apart(std::vector<float> wishes, float height, float low, float high);

}  // namespace shardlens::ui::compare
