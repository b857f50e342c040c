// Step times, stacked by what the step waited for. Interface thread, inside a frame.
#pragma once

#include "ui/commands.h"
#include "ui/snapshot.h"
#include "ui/step_chart.h"
#include "ui/theme.h"

namespace shardlens::ui {

void draw_step_chart_panel(const Look& look, const Rect& rect, const Snapshot& snapshot,
                           Commands& commands);

Rgb step_part_color(const Palette& palette, StepPart part);
std::string_view step_part_name(StepPart part);

}  // namespace shardlens::ui
