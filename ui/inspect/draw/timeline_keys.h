// The timeline by keyboard. Interface thread, inside a frame.
#pragma once

#include "ui/inspect/draw/timeline_scene.h"
#include "ui/inspect/timeline/timeline_layout.h"
#include "ui/inspect/timeline/timeline_state.h"
#include "ui/state/commands.h"

namespace shardlens::ui::inspect {

// Zoom and pan, at the pointer where it is over the timeline; measure; Esc.
void use_window_keys(const TimelineScene& scene, TimelineState& state, state::Commands& commands);
// All of them but Enter, which is the board's.
void use_timeline_keys(const TimelineScene& scene, const RowLayout& layout, TimelineState& state,
                       state::Commands& commands);

// What keys and the command palette have in common.
void toggle_measure(TimelineState& state);
void clear_marks(TimelineState& state, state::Commands& commands);

}  // namespace shardlens::ui::inspect
