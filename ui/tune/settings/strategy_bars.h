// Under the strategy knob: what each strategy would need and take, one row each, before the run. A
// click chooses. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::tune {

float strategy_bars_height(const kit::Theme& theme, const state::KnobDraft& draft);
void draw_strategy_bars(const kit::Theme& theme, const state::Rect& rect,
                        const state::Snapshot& snapshot, state::Commands& commands);

}  // namespace shardlens::ui::tune
