// Asks before the window closes while something goes on that would end with it. Interface thread,
// inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::window {

void draw_close_card(const kit::Theme& theme, const state::Rect& window,
                     const state::Snapshot& snapshot, state::Commands& commands);

}  // namespace shardlens::ui::window
