// The knobs for the next run and what Start will do. Interface thread, inside a frame.
#pragma once

#include <string>

#include "ui/kit/theme.h"
#include "ui/present/tune/knob_rows.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::tune {

class KnobsPanel {
 public:
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
            state::Commands& commands);
  // Unfolds the knob's group and scrolls to it.
  void reveal(std::string_view knob_name);

 private:
  void draw_rows(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
                 state::Commands& commands);

  present::UnfoldedGroups unfolded_{};
  std::string reveal_;
};

// The area at the panel's foot: the start button, or the trainer's set-up in its place.
float start_area_height(const kit::Theme& theme, float width, const state::Snapshot& snapshot);
void draw_start_area(const kit::Theme& theme, const state::Rect& rect,
                     const state::Snapshot& snapshot, state::Commands& commands);

}  // namespace shardlens::ui::tune
