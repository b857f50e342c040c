// The Inspect workspace: where did the time go? Interface thread, inside a frame.
#pragma once

#include <optional>
#include <string>

#include "ui/inspect/draw/minimap.h"
#include "ui/inspect/draw/timeline_board.h"
#include "ui/inspect/inspect_layout.h"
#include "ui/inspect/tabs/inspect_tabs.h"
#include "ui/inspect/toolbar/toolbar.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"
#include "ui/state/snapshot.h"
#include "ui/state/view_address.h"
#include "ui/state/view_preferences.h"

namespace shardlens::ui::inspect {

class InspectWorkspace {
 public:
  // `area`: below the top bar and its messages. `keys`: the keyboard is the workspace's.
  void draw(const kit::Theme& theme, const state::Rect& area, const state::Snapshot& snapshot,
            bool keys, state::ViewPreferences& preferences, state::Commands& commands);

  void show_memory_of(std::int64_t step) { tabs_.show_memory_of(step); }
  TimelineBoard& timeline() { return timeline_; }
  InspectTabs& tabs() { return tabs_; }
  const InspectTabs& tabs() const { return tabs_; }
  void find() { toolbar_.search().focus(); }
  // Shown once the run is there: what an address names. Of where the user went meanwhile no more
  // than its tab.
  void go_to(const state::ViewAddress& address) {
    wanted_ = address;
    seen_first_.reset();
  }
  void stay() { wanted_.reset(); }
  // Where go_to() leads once the run is there; none: it has led there, or stay() was called since.
  const std::optional<state::ViewAddress>& destination() const { return wanted_; }
  state::ViewAddress address(const state::InspectView& view) const;
  // As they were drawn last, to be saved as pictures.
  state::SavePicture timeline_picture() const;
  state::SavePicture whole_run_picture() const;

 private:
  void follow_run(const state::InspectView& view);
  void draw_splitter(const kit::Theme& theme, const InspectLayout& layout,
                     state::ViewPreferences& preferences);
  void use_bookmark_keys(const trace::model::Bookmarks& bookmarks, state::Commands& commands);
  // Commands from `first` on.
  void list_what_details_search(const state::Commands& commands, std::size_t first);
  void go_to_address(const state::InspectView& view);
  void go_to_times(const state::ViewAddress& address, std::int64_t start_ns);

  TimelineBoard timeline_;
  InspectToolbar toolbar_;
  Minimap minimap_;
  InspectTabs tabs_;
  std::optional<state::ViewAddress> wanted_;
  std::optional<TimelineState> seen_first_;  // while its run was still being read
  std::string run_;
  state::Rect timeline_area_, whole_run_area_;
};

}  // namespace shardlens::ui::inspect
