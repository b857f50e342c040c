// Above the rows: steps with number and length, the time axis; between the rows the steps' borders.
// Interface thread, inside a frame.
#pragma once

#include "ui/inspect/draw/timeline_scene.h"
#include "ui/inspect/timeline/timeline_state.h"

namespace shardlens::ui::inspect {

// Returns the step under the mouse; null: none.
const trace::timeline::StepBorder* draw_step_heads(const TimelineScene& scene);
// `origin_ns`: what labels count from, `origin`: its name, left of the axis.
void draw_axis(const TimelineScene& scene, std::int64_t origin_ns, std::string_view origin);
// Of every rank over its own rows.
void draw_step_borders(const TimelineScene& scene);

// What the time axis counts from: the start of the run, or of the first step in sight where few
// are.
struct AxisOrigin {
  std::int64_t time_ns = 0;
  std::string name;
};
AxisOrigin axis_origin(const TimelineScene& scene, bool from_run);

}  // namespace shardlens::ui::inspect
