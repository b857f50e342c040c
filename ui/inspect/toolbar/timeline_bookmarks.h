// Places of a run that the user wants to find again: which one is meant, and their list in the
// toolbar. The list is free of ImGui; the menu is drawn on the interface thread, inside a frame.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/model/bookmarks.h"
#include "trace/timeline/values/timeline_rows.h"
#include "ui/inspect/timeline/timeline_state.h"
#include "ui/kit/theme.h"
#include "ui/state/commands.h"

namespace shardlens::ui::inspect {

// Sets one, or takes those within `reach_ns` away.
void toggle_bookmark(const trace::model::Bookmarks& bookmarks,
                     const trace::model::Bookmark& bookmark, std::int64_t reach_ns,
                     state::Commands& commands);
// The next one in a direction; null: none.
const trace::model::Bookmark* neighbour_bookmark(const trace::model::Bookmarks& bookmarks,
                                                 std::int64_t from_ns, int direction);
// At the picked event, which lies at `picked`, at the selection's start, or at `cursor_ns`.
trace::model::Bookmark bookmark_here(const TimelineState& state,
                                     const std::optional<trace::base::Interval>& picked,
                                     std::int64_t cursor_ns);

// A button with the list behind it: each is gone to, renamed or taken away.
class BookmarkMenu {
 public:
  void forget_run() { renamed_.reset(); }
  // Takes its room from `rest`.
  void draw(const kit::Theme& theme, state::Rect& rest, const trace::timeline::TimelineRows& rows,
            const trace::model::Bookmarks& bookmarks, TimelineState& state,
            state::Commands& commands);

 private:
  enum class Click : std::uint8_t { kNone, kGo, kRename, kRemove };

  Click draw_row(const kit::Theme& theme, state::Rect row, std::size_t index,
                 const trace::model::Bookmark& bookmark, const std::string& time,
                 state::Commands& commands);
  void draw_name(const kit::Theme& theme, const state::Rect& rect, const std::string& target,
                 const trace::model::Bookmark& bookmark, state::Commands& commands);
  void draw_list(const kit::Theme& theme, state::Rect area,
                 const trace::timeline::TimelineRows& rows,
                 const trace::model::Bookmarks& bookmarks, TimelineState& state,
                 state::Commands& commands);
  void keep_name(state::Commands& commands);

  std::optional<std::int64_t> renamed_;  // the one whose name is being written
  std::string name_, name_before_;
  bool takes_keyboard_ = false, was_edited_ = false;
};

}  // namespace shardlens::ui::inspect
