// What to do when there is nothing to show yet. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::tune {

void draw_empty_state(const kit::Theme& theme, const state::Rect& rect,
                      const state::Snapshot& snapshot, state::Commands& commands);

}  // namespace shardlens::ui::tune
