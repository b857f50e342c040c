// One knob: label, its setting's name in grey, the control. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/present/knob_rows.h"
#include "ui/state/commands.h"

namespace shardlens::ui {

float knob_row_height(const Theme& theme, float width, const KnobRow& row);
void draw_knob_row(const Theme& theme, const Rect& rect, const KnobRow& row, Commands& commands);

}  // namespace shardlens::ui
