// Why a run failed: reason, diagnosis, the end of its log. Interface thread, inside a frame.
#pragma once

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::tune {

// The height that the card wants; 0 when there is no failure to show.
float failure_card_height(const kit::Theme& theme, const state::Snapshot& snapshot,
                          float available);
// Returns true when the user hid it.
bool draw_failure_card(const kit::Theme& theme, const state::Rect& rect,
                       const state::Snapshot& snapshot, state::Commands& commands);

}  // namespace shardlens::ui::tune
