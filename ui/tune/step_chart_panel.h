// Step times, stacked by what the step waited for. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/present/step_chart.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

void draw_step_chart_panel(const Theme& theme, const Rect& rect, const Snapshot& snapshot,
                           Commands& commands);

Rgb step_part_color(const Palette& palette, StepPart part);
std::string_view step_part_name(StepPart part);

}  // namespace shardlens::ui
