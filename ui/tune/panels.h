// The panels of the Tune workspace that keep nothing from frame to frame. Interface thread, inside
// a frame.
#pragma once

#include <cstdint>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::tune {

// What to do when there is nothing to show yet.
void draw_empty_state(const kit::Theme& theme, const state::Rect& rect,
                      const state::Snapshot& snapshot, state::Commands& commands);

// ---- why a run failed: reason, diagnosis, the end of its log ----------------------------------

// The height that the card wants; 0 when there is no failure to show.
float failure_card_height(const kit::Theme& theme, const state::Snapshot& snapshot,
                          float available);
// Returns true when the user hid it.
bool draw_failure_card(const kit::Theme& theme, const state::Rect& rect,
                       const state::Snapshot& snapshot, state::Commands& commands);

// ---- step times, stacked by what the step waited for ------------------------------------------

void draw_step_chart_panel(const kit::Theme& theme, const state::Rect& rect,
                           const state::Snapshot& snapshot, state::Commands& commands);

// ---- memory per rank by category at its peak --------------------------------------------------

// The run on screen is over and told of no memory.
bool lacks_memory(const state::Snapshot& snapshot);
void draw_memory_panel(const kit::Theme& theme, const state::Rect& rect,
                       const state::Snapshot& snapshot);
// The same without a frame of its own, side by side instead of one below the other.
void draw_memory_wide(const kit::Theme& theme, const state::Rect& rect,
                      const state::Snapshot& snapshot);

// ---- a recorded run as if it were live: play, pause, speed, scrubber --------------------------

void draw_replay_bar(const kit::Theme& theme, const state::Rect& rect,
                     const state::Snapshot& snapshot, state::Commands& commands);
// 0.01, 0.02, 0.05, 0.1, 0.25, … 100: the next speed above or below.
double faster(double speed);
double slower(double speed);
// Where the replay stands, 0..1, and back.
float replay_position(const state::ReplayState& replay);
std::int64_t replay_time(const state::ReplayState& replay, float position);

}  // namespace shardlens::ui::tune
