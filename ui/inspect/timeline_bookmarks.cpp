#include "ui/inspect/timeline_bookmarks.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ui/inspect/timeline_time_text.h"
#include "ui/inspect/toolbar_controls.h"
#include "ui/widgets.h"

namespace shardlens::ui {

namespace {

constexpr std::size_t kMostBookmarks = 200;  // of one run: beyond it a list helps nobody
constexpr float kBookmarkRow = 28;

enum class BookmarkClick : std::uint8_t { kNone, kGo, kRemove };

BookmarkClick draw_bookmark(const Look& look, Rect row, std::size_t index, const Bookmark& bookmark,
                            const std::string& time) {
  const Palette& p = look.colors();
  const std::string number = std::to_string(index);
  const Rect cross = row.take_right(look.px(24)).inset(0, look.px(2));
  if (icon_button(look, "inspect/bookmark x " + number, cross, Shape::kCross)) {
    return BookmarkClick::kRemove;
  }
  const Hit hit = hit_area(look, "inspect/bookmark " + number, row);
  if (hit.hovered) fill(row, color(p.hover), look.px(4));
  Rect inner = row.inset(look.px(6), 0);
  const float width = std::ceil(text_width(look, Face::kMonoSmall, time));
  text_in(look, inner.take_left(width, look.px(10)), Face::kMonoSmall, p.text, time);
  text_in(look, inner, Face::kBody, p.text_secondary, bookmark.label);
  return hit.clicked ? BookmarkClick::kGo : BookmarkClick::kNone;
}

}  // namespace

bool toggle_bookmark(BookmarkList& bookmarks, const Bookmark& bookmark, std::int64_t reach_ns) {
  const std::size_t before = bookmarks.size();
  std::erase_if(bookmarks, [&](const Bookmark& other) {
    return std::abs(distance_ns(other.time_ns, bookmark.time_ns)) <= static_cast<double>(reach_ns);
  });
  if (bookmarks.size() != before || bookmarks.size() >= kMostBookmarks) return false;
  const auto at =
      std::upper_bound(bookmarks.begin(), bookmarks.end(), bookmark,
                       [](const Bookmark& a, const Bookmark& b) { return a.time_ns < b.time_ns; });
  bookmarks.insert(at, bookmark);
  return true;
}

const Bookmark* neighbour_bookmark(const BookmarkList& bookmarks, std::int64_t from_ns,
                                   int direction) {
  const Bookmark* found = nullptr;
  for (const Bookmark& bookmark : bookmarks) {
    if (direction > 0 && bookmark.time_ns > from_ns) return &bookmark;
    if (direction < 0 && bookmark.time_ns < from_ns) found = &bookmark;
  }
  return found;
}

Bookmark bookmark_here(const TimelineState& state, std::int64_t cursor_ns) {
  if (state.picked) return {state.picked->place.start_ns, state.picked->name};
  if (state.selection) {
    return {state.selection->start_ns, length_text(state.selection->length_ns()) + " selected"};
  }
  return {cursor_ns, ""};
}

void draw_bookmark_menu(const Look& look, Rect& rest, const trace::TimelineRows& rows,
                        TimelineState& state, BookmarkList& bookmarks) {
  const std::string label =
      bookmarks.empty() ? "Bookmarks" : "Bookmarks " + std::to_string(bookmarks.size());
  const float width = menu_button_width(look, label);
  if (width > rest.w) return;
  Rect button = rest.take_right(width, look.px(12));
  const float height = std::min(look.px(26), button.h);
  button = {button.x, std::round(button.center_y() - height / 2), button.w, height};
  if (draw_menu_button(look, "inspect/bookmarks", button, label,
                       "Places to find again: B sets one at the picked event, the selection or the "
                       "mouse, [ and ] go from one to the next")) {
    ImGui::OpenPopup("##bookmarks");
  }
  const float row_height = look.px(kBookmarkRow);
  const auto count = static_cast<float>(std::max<std::size_t>(bookmarks.size(), 1));
  const MenuScope menu(look, "##bookmarks", button, look.px(340), row_height * count + look.px(12));
  if (!menu.is_open()) return;
  Rect area = menu.area;
  if (bookmarks.empty()) {
    text_in(look, area.inset(look.px(6), 0), Face::kSmall, look.colors().text_muted,
            "None yet: B sets one at the mouse");
  }
  std::optional<std::size_t> removed;
  for (std::size_t i = 0; i < bookmarks.size(); ++i) {
    const std::int64_t time = bookmarks[i].time_ns;
    const BookmarkClick click = draw_bookmark(look, area.take_top(row_height), i, bookmarks[i],
                                              exact_text(time - rows.start_ns, 1'000'000));
    if (click == BookmarkClick::kRemove) removed = i;
    if (click != BookmarkClick::kGo) continue;
    state.mode = TimelineState::Mode::kTime;
    state.window.center_on(time);
    ImGui::CloseCurrentPopup();
  }
  if (removed) bookmarks.erase(bookmarks.begin() + static_cast<std::ptrdiff_t>(*removed));
}

}  // namespace shardlens::ui
