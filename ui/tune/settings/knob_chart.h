// The predicted curve of step time over a slider's range. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/present/tune/knob_chart.h"
#include "ui/present/tune/knob_rows.h"
#include "ui/state/commands.h"

namespace shardlens::ui::tune {

float knob_chart_height(const kit::Theme& theme);
// `rect`: as wide as the slider below it, so that positions agree. A click on the best value, or on
// a measured run's, sets the knob.
void draw_knob_chart(const kit::Theme& theme, const state::Rect& rect, const present::KnobRow& row,
                     const present::KnobChart& chart, state::Commands& commands);

}  // namespace shardlens::ui::tune
