// The panel beside the timeline: everything recorded about the event that was clicked.
// Interface thread, inside a frame.
#pragma once

#include "trace/timeline/values/event_details.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::inspect {

void draw_details_panel(const kit::Theme& theme, const state::Rect& rect,
                        const state::Snapshot& snapshot, state::Commands& commands);

// Its part about the same collective on every rank: waits and transfers as bars.
float calls_height(const kit::Theme& theme, const trace::timeline::EventDetails& details);
// A click on a rank's bar goes to its call.
void draw_calls(const kit::Theme& theme, const state::Rect& rect,
                const trace::timeline::EventDetails& details, state::Commands& commands);

}  // namespace shardlens::ui::inspect
