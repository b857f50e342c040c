// The same collective on every rank: waits and transfers as bars. Interface thread, inside a frame.
#pragma once

#include "trace/timeline/values/event_details.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"

namespace shardlens::ui::inspect {

float calls_height(const kit::Theme& theme, const trace::timeline::EventDetails& details);
// A click on a rank's bar goes to its call.
void draw_calls(const kit::Theme& theme, const state::Rect& rect,
                const trace::timeline::EventDetails& details, state::Commands& commands);

}  // namespace shardlens::ui::inspect
