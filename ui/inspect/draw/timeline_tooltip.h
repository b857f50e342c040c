// What the mouse is over, in a few lines beside it, and what was clicked, on a card. Interface
// thread, inside a frame.
#pragma once

#include "ui/inspect/draw/timeline_scene.h"

namespace shardlens::ui::inspect {

void draw_timeline_tooltip(const TimelineScene& scene, const RowItem& item);
// In the plot's corner; true when it was closed.
bool draw_timeline_card(const TimelineScene& scene, const RowItem& item);

}  // namespace shardlens::ui::inspect
