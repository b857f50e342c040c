// The panel beside the timeline: everything recorded about the event that was clicked.
// Interface thread, inside a frame.
#pragma once

#include "ui/commands.h"
#include "ui/snapshot.h"
#include "ui/theme.h"

namespace shardlens::ui {

void draw_details_panel(const Look& look, const Rect& rect, const Snapshot& snapshot,
                        Commands& commands);

}  // namespace shardlens::ui
