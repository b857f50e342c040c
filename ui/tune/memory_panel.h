// Memory per rank by category at its peak. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::tune {

// The run on screen is over and told of no memory.
bool lacks_memory(const state::Snapshot& snapshot);

void draw_memory_panel(const kit::Theme& theme, const state::Rect& rect,
                       const state::Snapshot& snapshot);
// The same without a frame of its own, side by side instead of one below the other.
void draw_memory_wide(const kit::Theme& theme, const state::Rect& rect,
                      const state::Snapshot& snapshot);

}  // namespace shardlens::ui::tune
