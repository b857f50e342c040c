// Places of a run that the user wants to find again. The list is free of ImGui; the menu is drawn
// on the interface thread, inside a frame.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/timeline/timeline_rows.h"
#include "ui/inspect/timeline_state.h"
#include "ui/theme.h"
#include "ui/view_preferences.h"

namespace shardlens::ui {

using BookmarkList = std::vector<Bookmark>;  // by time

// Sets one, or removes those within `reach_ns`; true: it was set.
bool toggle_bookmark(BookmarkList& bookmarks, const Bookmark& bookmark, std::int64_t reach_ns);
// The next one in a direction, with a little slack for the one that is in the middle; null: none.
const Bookmark* neighbour_bookmark(const BookmarkList& bookmarks, std::int64_t from_ns,
                                   int direction);
// At the picked event, at the selection's start, or at `cursor_ns`.
Bookmark bookmark_here(const TimelineState& state, std::int64_t cursor_ns);

// A button with the list behind it; takes its room from `rest`.
void draw_bookmark_menu(const Look& look, Rect& rest, const trace::TimelineRows& rows,
                        TimelineState& state, BookmarkList& bookmarks);

}  // namespace shardlens::ui
