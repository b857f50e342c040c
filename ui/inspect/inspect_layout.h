// Where the parts of the Inspect workspace lie. Free of ImGui; any thread.
#pragma once

#include "ui/state/geometry.h"

namespace shardlens::ui::inspect {

// Empty rectangles are not drawn.
struct InspectLayout {
  state::Rect minimap, toolbar, timeline, details, splitter, tabs;
};

inline constexpr float kLeastTabsShare = 0.12f, kMostTabsShare = 0.75f;

// `area`: below the top bar, its messages and the replay bar. `tabs_share`: of the height that
// timeline and tabs have together.
InspectLayout inspect_layout(const state::Rect& area, float scale, float tabs_share);
// The share that puts the splitter to `y`.
float tabs_share_at(const InspectLayout& layout, float y);

}  // namespace shardlens::ui::inspect
