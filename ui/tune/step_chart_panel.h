// Step times, stacked by what the step waited for. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/present/step_chart.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::tune {

void draw_step_chart_panel(const kit::Theme& theme, const state::Rect& rect,
                           const state::Snapshot& snapshot, state::Commands& commands);

}  // namespace shardlens::ui::tune
