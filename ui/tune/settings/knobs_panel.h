// The knobs for the next run and what Start will do. Interface thread, inside a frame.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ui/kit/theme.h"
#include "ui/present/tune/knob_chart.h"
#include "ui/present/tune/knob_rows.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/tune/settings/knob_row.h"

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

  KnobRowExtras extras_of(const state::Snapshot& snapshot, const present::KnobRow& row);
  const present::KnobChart* chart_of(const state::Snapshot& snapshot, const present::KnobRow& row);

  present::UnfoldedGroups unfolded_{};
  std::string reveal_;
  // Of one snapshot: the ledger is gone through for them.
  std::uint64_t charted_ = 0;
  std::map<const trace::job::Knob*, std::optional<present::KnobChart>> charts_;
};

// The area at the panel's foot: the start button, or the trainer's set-up in its place.
float start_area_height(const kit::Theme& theme, float width, const state::Snapshot& snapshot);
void draw_start_area(const kit::Theme& theme, const state::Rect& rect,
                     const state::Snapshot& snapshot, state::Commands& commands);

}  // namespace shardlens::ui::tune
