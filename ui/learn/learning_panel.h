// What the run learns, beside its step times: loss and evaluations, learning rate, gradient norm.
// Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

// With a surface and a title of its own.
void draw_learning_panel(const Theme& theme, const Rect& rect, const Snapshot& snapshot,
                         Commands& commands);
// For whoever has a frame already.
void draw_learning_wide(const Theme& theme, const Rect& body, const Snapshot& snapshot,
                        Commands& commands);

}  // namespace shardlens::ui
