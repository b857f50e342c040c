// The panel beside the timeline: everything recorded about the event that was clicked.
// Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::inspect {

void draw_details_panel(const kit::Theme& theme, const state::Rect& rect,
                        const state::Snapshot& snapshot, state::Commands& commands);

}  // namespace shardlens::ui::inspect
