// The panel beside the timeline: everything recorded about the event that was clicked.
// Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

void draw_details_panel(const Theme& theme, const Rect& rect, const Snapshot& snapshot,
                        Commands& commands);

}  // namespace shardlens::ui
