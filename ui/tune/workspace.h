// The Tune workspace: what did this knob do? Interface thread, inside a frame.
#pragma once

#include <string>

#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/state/view_preferences.h"
#include "ui/tune/advice_panel.h"
#include "ui/tune/dock_panel.h"
#include "ui/tune/layout.h"
#include "ui/tune/settings/knobs_panel.h"
#include "ui/tune/timeline_panel.h"

namespace shardlens::ui::tune {

class TuneWorkspace {
 public:
  // `fold_dock` changes when the user folds it. `keys`: the keyboard is the workspace's.
  void draw(const kit::Theme& theme, const TuneLayout& layout, const state::Snapshot& snapshot,
            bool keys, bool& fold_dock, state::Commands& commands);

  TimelinePanel& timeline() { return timeline_; }
  KnobsPanel& knobs() { return knobs_; }
  // Unfolds the dock, too.
  void show_in_dock(DockPanel::Tab tab, bool& fold_dock);
  bool opens_dock() const { return open_dock_; }

 private:
  void draw_center(const kit::Theme& theme, const TuneLayout& layout,
                   const state::Snapshot& snapshot, bool keys, state::Commands& commands);

  TimelinePanel timeline_;
  KnobsPanel knobs_;
  DockPanel dock_;
  AdvicePanel advice_;
  std::string hidden_failure_;  // the run whose failure the user has read
  bool open_dock_ = false;      // in a window too low for it
};

// The step before or behind the selected one, for ← and →; -1 where there is none.
std::int64_t neighbour_step(const state::Snapshot& snapshot, int direction);

}  // namespace shardlens::ui::tune
