// What the mouse is over, in a few lines beside it. Interface thread, inside a frame.
#pragma once

#include "ui/inspect/draw/timeline_scene.h"

namespace shardlens::ui {

void draw_timeline_tooltip(const TimelineScene& scene, const RowItem& item);

}  // namespace shardlens::ui
