// What a step's memory was used for at its peak: a bar, and a legend with bytes and shares.
// Interface thread, inside a frame.
#pragma once

#include "trace/timeline/values/step_memory.h"
#include "ui/kit/theme.h"
#include "ui/state/geometry.h"

namespace shardlens::ui::inspect {

// "Parameters", … in the colours of the bands. Without the shares where there is room only for two
// columns.
void draw_peak_composition(const kit::Theme& theme, const state::Rect& rect,
                           const trace::timeline::StepMemory& memory);

}  // namespace shardlens::ui::inspect
