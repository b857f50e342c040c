// What the run learns, beside its step times: loss and evaluations, learning rate, gradient norm.
// Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::learn {

// With a surface and a title of its own.
void draw_learning_panel(const kit::Theme& theme, const state::Rect& rect,
                         const state::Snapshot& snapshot, state::Commands& commands);
// For whoever has a frame already.
void draw_learning_wide(const kit::Theme& theme, const state::Rect& body,
                        const state::Snapshot& snapshot, state::Commands& commands);

}  // namespace shardlens::ui::learn
