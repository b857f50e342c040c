// Step mode: the steps of one rank one above the other, aligned at their starts. Interface thread,
// inside a frame.
#pragma once

#include "ui/inspect/draw/timeline_scene.h"
#include "ui/inspect/timeline/timeline_layout.h"

namespace shardlens::ui::inspect {

// Places the rows of the steps that are in sight; returns the height of all steps.
float place_step_rows(TimelineScene& scene, int rank, const RowFilter& filter, float scroll);
// Number and length of each step left of it; the longest of all is marked. Behind each, its length.
void draw_step_labels(const TimelineScene& scene);

}  // namespace shardlens::ui::inspect
