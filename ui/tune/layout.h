// Where the panels of the Tune workspace lie. Free of ImGui; any thread.
#pragma once

#include "ui/state/geometry.h"

namespace shardlens::ui::tune {

struct LayoutInput {
  float width = 0, height = 0;  // pixels
  float scale = 1;
  float messages_height = 0;  // pixels: of banners and notices
  float lesson_width = 0;     // pixels: of the column of Learn, beside which all else lies; 0: none
  int dock_rows = -1;  // of the ledger: a short one leaves its room to the timeline; -1: many
  bool replay = false;
  bool learns = false;        // the run has losses to draw
  bool lacks_memory = false;  // it ended without any recorded: one line says so
  bool fold_knobs = false;
  bool fold_dock = false;  // the user's wish; a low window folds it anyway
  bool open_dock = false;  // the user's wish in a low window
};

// Empty rectangles are not drawn.
struct TuneLayout {
  state::Rect top_bar, lesson, messages, replay, knobs, steps, timeline, memory, dock;
  state::Rect advice;    // under memory, where the window is high enough for both
  state::Rect learning;  // beside the step times, where both have room
  bool dock_folded = false;
};

inline constexpr float kTopBarHeight = 56;
inline constexpr float kReplayHeight = 40;
inline constexpr float kPanelGap = 8;

TuneLayout tune_layout(const LayoutInput& input);
// How many rows of the ledger there is room for, at most.
int rows_with_room(const LayoutInput& input);

}  // namespace shardlens::ui::tune
