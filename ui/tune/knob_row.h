// One knob: label, its setting's name in grey, the control. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/present/tune/knob_rows.h"
#include "ui/state/commands.h"

namespace shardlens::ui::tune {

float knob_row_height(const kit::Theme& theme, float width, const present::KnobRow& row);
void draw_knob_row(const kit::Theme& theme, const state::Rect& rect, const present::KnobRow& row,
                   state::Commands& commands);

}  // namespace shardlens::ui::tune
