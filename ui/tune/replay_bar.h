// Plays a recorded run as if it were live: play, pause, speed, scrubber. Interface thread.
#pragma once

#include <cstdint>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::tune {

void draw_replay_bar(const kit::Theme& theme, const state::Rect& rect,
                     const state::Snapshot& snapshot, state::Commands& commands);

// 0.01, 0.02, 0.05, 0.1, 0.25, … 100: the next speed above or below.
double faster(double speed);
double slower(double speed);

// Where the replay stands, 0..1, and back.
float replay_position(const state::ReplayState& replay);
std::int64_t replay_time(const state::ReplayState& replay, float position);

}  // namespace shardlens::ui::tune
