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

namespace shardlens::ui {

// Sets one, or takes those within `reach_ns` away.
void toggle_bookmark(const trace::Bookmarks& bookmarks, const trace::Bookmark& bookmark,
                     std::int64_t reach_ns, Commands& commands);
// The next one in a direction; null: none.
const trace::Bookmark* neighbour_bookmark(const trace::Bookmarks& bookmarks, std::int64_t from_ns,
                                          int direction);
// At the picked event, at the selection's start, or at `cursor_ns`.
trace::Bookmark bookmark_here(const TimelineState& state, std::int64_t cursor_ns);

// A button with the list behind it: each is gone to, renamed or taken away.
class BookmarkMenu {
 public:
  void forget_run() { renamed_.reset(); }
  // Takes its room from `rest`.
  void draw(const Theme& theme, Rect& rest, const trace::TimelineRows& rows,
            const trace::Bookmarks& bookmarks, TimelineState& state, Commands& commands);

 private:
  enum class Click : std::uint8_t { kNone, kGo, kRename, kRemove };

  Click draw_row(const Theme& theme, Rect row, std::size_t index, const trace::Bookmark& bookmark,
                 const std::string& time, Commands& commands);
  void draw_name(const Theme& theme, const Rect& rect, const std::string& target,
                 const trace::Bookmark& bookmark, Commands& commands);
  void draw_list(const Theme& theme, Rect area, const trace::TimelineRows& rows,
                 const trace::Bookmarks& bookmarks, TimelineState& state, Commands& commands);
  void keep_name(Commands& commands);

  std::optional<std::int64_t> renamed_;  // the one whose name is being written
  std::string name_, name_before_;
  bool takes_keyboard_ = false, was_edited_ = false;
};

}  // namespace shardlens::ui
