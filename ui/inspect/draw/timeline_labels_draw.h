// The names left of the timeline's rows; a click folds. Interface thread, inside a frame.
#pragma once

#include "ui/inspect/draw/timeline_scene.h"
#include "ui/inspect/timeline/timeline_layout.h"
#include "ui/inspect/timeline/timeline_state.h"

namespace shardlens::ui::inspect {

// `scroll`: how far the layout is moved up.
void draw_labels(const TimelineScene& scene, const RowLayout& layout, float scroll,
                 TimelineState& state);

}  // namespace shardlens::ui::inspect
