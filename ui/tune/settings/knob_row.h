// One knob: label, its setting's name in grey, the control. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/present/tune/knob_chart.h"
#include "ui/present/tune/knob_rows.h"
#include "ui/state/commands.h"

namespace shardlens::ui::tune {

// `chart`: behind its slider; null: there is none.
float knob_row_height(const kit::Theme& theme, float width, const present::KnobRow& row,
                      const present::KnobChart* chart);
void draw_knob_row(const kit::Theme& theme, const state::Rect& rect, const present::KnobRow& row,
                   const present::KnobChart* chart, state::Commands& commands);

}  // namespace shardlens::ui::tune
