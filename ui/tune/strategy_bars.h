// Under the strategy knob: what each strategy would need, one row each, before the run. A click
// chooses. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

float strategy_bars_height(const Theme& theme, const KnobDraft& draft);
void draw_strategy_bars(const Theme& theme, const Rect& rect, const KnobDraft& draft,
                        Commands& commands);

}  // namespace shardlens::ui
