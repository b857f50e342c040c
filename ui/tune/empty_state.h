// What to do when there is nothing to show yet. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

void draw_empty_state(const Theme& theme, const Rect& rect, const Snapshot& snapshot,
                      Commands& commands);

}  // namespace shardlens::ui
