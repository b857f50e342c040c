// Above the timeline: search, mode, alignment, which rows are shown, bookmarks, what is selected.
// Interface thread.
#pragma once

#include "ui/inspect/timeline/timeline_state.h"
#include "ui/inspect/timeline/timeline_steps.h"
#include "ui/inspect/toolbar/timeline_bookmarks.h"
#include "ui/inspect/toolbar/toolbar_search.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::inspect {

class InspectToolbar {
 public:
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::InspectView& view,
            const StepIndex& steps, TimelineState& state, state::Commands& commands);
  SearchField& search() { return search_; }
  void forget_run() {
    search_.forget_run();
    bookmarks_.forget_run();
  }

 private:
  void draw_search(const kit::Theme& theme, state::Rect& rest, const state::InspectView& view,
                   TimelineState& state, state::Commands& commands);
  void draw_modes(const kit::Theme& theme, state::Rect& rest, const state::InspectView& view,
                  const StepIndex& steps, TimelineState& state);

  SearchField search_;
  BookmarkMenu bookmarks_;
};

// Where the next hit is looked for: behind the picked event, or from the middle of the view.
std::int64_t search_origin(const TimelineState& state);
// "126.4 ms on 8 ranks selected"; "" for nothing.
std::string selection_text(const TimelineState& state, std::size_t ranks);

}  // namespace shardlens::ui::inspect
