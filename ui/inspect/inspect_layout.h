// Where the parts of the Inspect workspace lie. Free of ImGui; any thread.
#pragma once

#include "ui/state/geometry.h"

namespace shardlens::ui::inspect {

struct InspectLayoutInput {
  state::Rect area;  // below the top bar, its messages and the replay bar
  float scale = 1;
  float tabs_share = 0.36f;  // of the height that timeline and tabs have together
};

// Empty rectangles are not drawn.
struct InspectLayout {
  state::Rect minimap, toolbar, timeline, details, splitter, tabs;
};

inline constexpr float kLeastTabsShare = 0.12f, kMostTabsShare = 0.75f;

InspectLayout inspect_layout(const InspectLayoutInput& input);
// The share that puts the splitter to `y`.
float tabs_share_at(const InspectLayout& layout, float y);

}  // namespace shardlens::ui::inspect
