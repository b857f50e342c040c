// Memory per rank by category at its peak. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

void draw_memory_panel(const Theme& theme, const Rect& rect, const Snapshot& snapshot);
// The same without a frame of its own, side by side instead of one below the other.
void draw_memory_wide(const Theme& theme, const Rect& rect, const Snapshot& snapshot);

}  // namespace shardlens::ui
