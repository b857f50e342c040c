// Plays a recorded run as if it were live: play, pause, speed, scrubber. Interface thread.
#pragma once

#include <cstdint>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui {

void draw_replay_bar(const Theme& theme, const Rect& rect, const Snapshot& snapshot,
                     Commands& commands);

// 0.25, 0.5, 1, 2, … 100: the next speed above or below.
double faster(double speed);
double slower(double speed);

// Where the replay stands, 0..1, and back.
float replay_position(const ReplayState& replay);
std::int64_t replay_time(const ReplayState& replay, float position);

}  // namespace shardlens::ui
