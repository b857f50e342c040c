// The card over the window on which a sweep is made. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::sweep {

// Draws nothing while the card is closed.
void draw_sweep_card(const kit::Theme& theme, const state::Rect& window,
                     const state::Snapshot& snapshot, state::Commands& commands);

}  // namespace shardlens::ui::sweep
