#include "ui/inspect/toolbar/timeline_bookmarks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/kit/keys.h"
#include "ui/kit/toolbar_controls.h"
#include "ui/kit/widgets.h"
#include "ui/present/timeline/timeline_time_text.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui::inspect {

using trace::model::Bookmark;
using trace::model::Bookmarks;

namespace {

constexpr float kBookmarkRow = 28, kBookmarkMenuWidth = 400;

}  // namespace

void toggle_bookmark(const Bookmarks& bookmarks, const Bookmark& bookmark, std::int64_t reach_ns,
                     state::Commands& commands) {
  bool is_there = false;
  for (const Bookmark& other : bookmarks) {
    if (std::abs(distance_ns(other.time_ns, bookmark.time_ns)) > static_cast<double>(reach_ns)) {
      continue;
    }
    commands.push_back(state::ChangeBookmark{{other.time_ns, {}}});
    is_there = true;
  }
  if (!is_there) commands.push_back(state::ChangeBookmark{{bookmark.time_ns, bookmark.name}});
}

const Bookmark* neighbour_bookmark(const Bookmarks& bookmarks, std::int64_t from_ns,
                                   int direction) {
  const Bookmark* found = nullptr;
  for (const Bookmark& bookmark : bookmarks) {
    if (direction > 0 && bookmark.time_ns > from_ns) return &bookmark;
    if (direction < 0 && bookmark.time_ns < from_ns) found = &bookmark;
  }
  return found;
}

Bookmark bookmark_here(const TimelineState& state,
                       const std::optional<trace::base::Interval>& picked, std::int64_t cursor_ns) {
  if (picked) return {picked->start_ns, state.picked->name};
  if (state.selection) {
    return {state.selection->start_ns,
            present::length_text(state.selection->length()) + " selected"};
  }
  return {cursor_ns, ""};
}

void BookmarkMenu::keep_name(state::Commands& commands) {
  if (renamed_ && name_ != name_before_)
    commands.push_back(state::ChangeBookmark{{*renamed_, name_}});
  renamed_.reset();
}

void BookmarkMenu::draw_name(const kit::Theme& theme, const state::Rect& rect,
                             const std::string& target, const Bookmark& bookmark,
                             state::Commands& commands) {
  const state::Palette& p = theme.colors();
  if (renamed_ != bookmark.time_ns) {
    const bool is_named = !bookmark.name.empty();
    kit::text_in(theme, rect, kit::Face::kBody, is_named ? p.text : p.text_muted,
                 is_named ? bookmark.name : "no name");
    return;
  }
  table::filter_field(theme, target, rect.inset(0, theme.px(1)), name_, "a name, or a note",
                      std::exchange(takes_keyboard_, false));
  const bool is_edited = ImGui::IsItemActive();
  if (kit::key_pressed(kit::Key::kEscape, false)) {
    renamed_.reset();
  } else if (std::exchange(was_edited_, is_edited) && !is_edited) {
    keep_name(commands);
  }
}

BookmarkMenu::Click BookmarkMenu::draw_row(const kit::Theme& theme, state::Rect row,
                                           std::size_t index, const Bookmark& bookmark,
                                           const std::string& time, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const std::string number = std::to_string(index);
  const state::Rect whole = row;
  const state::Rect cross = row.take_right(theme.px(24)).inset(0, theme.px(2));
  const state::Rect pencil = row.take_right(theme.px(24)).inset(0, theme.px(2));
  Click click = Click::kNone;
  const bool is_renamed = renamed_ == bookmark.time_ns;
  const kit::Hit hit =
      is_renamed ? kit::Hit{} : kit::hit_area(theme, "inspect/bookmark " + number, row);
  if (kit::hovers(whole)) kit::fill(whole, kit::color(p.hover), theme.px(4));
  if (hit.clicked) click = Click::kGo;
  if (kit::icon_button(theme, "inspect/bookmark rename " + number, pencil, kit::Shape::kPencil)) {
    click = Click::kRename;
  }
  if (kit::icon_button(theme, "inspect/bookmark x " + number, cross, kit::Shape::kCross)) {
    click = Click::kRemove;
  }
  kit::explain(theme, pencil, "Rename", "");
  kit::explain(theme, cross, "Remove", "");
  state::Rect inner = row.inset(theme.px(6), 0);
  kit::take_text(theme, inner, theme.px(12), kit::Face::kMonoSmall, p.text_secondary, time);
  draw_name(theme, inner, "inspect/bookmark name " + number, bookmark, commands);
  return click;
}

void BookmarkMenu::draw_list(const kit::Theme& theme, state::Rect area,
                             const trace::timeline::TimelineRows& rows, const Bookmarks& bookmarks,
                             TimelineState& state, state::Commands& commands) {
  const auto digits =
      static_cast<std::size_t>(present::exact_text(rows.end_ns - rows.start_ns, 1'000'000).size());
  for (std::size_t i = 0; i < bookmarks.size(); ++i) {
    const Bookmark& bookmark = bookmarks[i];
    std::string time = present::exact_text(bookmark.time_ns - rows.start_ns, 1'000'000);
    if (time.size() < digits) time.insert(0, digits - time.size(), ' ');
    const state::Rect row = area.take_top(theme.px(kBookmarkRow));
    switch (draw_row(theme, row, i, bookmark, time, commands)) {
      case Click::kNone:
        break;
      case Click::kGo:
        state.mode = TimelineState::Mode::kTime;
        state.window.center_on(bookmark.time_ns);
        ImGui::CloseCurrentPopup();
        break;
      case Click::kRename:
        keep_name(commands);
        renamed_ = bookmark.time_ns;
        name_ = name_before_ = bookmark.name;
        takes_keyboard_ = true;
        was_edited_ = false;
        break;
      case Click::kRemove:
        if (renamed_ == bookmark.time_ns) renamed_.reset();
        commands.push_back(state::ChangeBookmark{{bookmark.time_ns, {}}});
        break;
    }
  }
}

void BookmarkMenu::draw(const kit::Theme& theme, state::Rect& rest,
                        const trace::timeline::TimelineRows& rows, const Bookmarks& bookmarks,
                        TimelineState& state, state::Commands& commands) {
  const std::string label =
      bookmarks.empty() ? "Bookmarks" : "Bookmarks " + std::to_string(bookmarks.size());
  const float width = kit::menu_button_width(theme, label);
  if (width > rest.w) return;
  state::Rect button = rest.take_right(width, theme.px(12));
  const float height = std::min(theme.px(26), button.h);
  button = {button.x, std::round(button.center_y() - height / 2), button.w, height};
  if (kit::draw_menu_button(
          theme, "inspect/bookmarks", button, label,
          "Places to find again, kept with the run: B sets one at the picked event, "
          "the selection or the mouse, [ and ] go from one to the next")) {
    ImGui::OpenPopup("##bookmarks");
  }
  const auto count = static_cast<float>(std::max<std::size_t>(bookmarks.size(), 1));
  const kit::MenuScope menu(theme, "##bookmarks", button, theme.px(kBookmarkMenuWidth),
                            theme.px(kBookmarkRow) * count + theme.px(12));
  if (!menu.is_open()) return keep_name(commands);
  if (bookmarks.empty()) {
    kit::note_in(theme, menu.area.inset(theme.px(6), 0), "None yet: B sets one at the mouse");
  }
  draw_list(theme, menu.area, rows, bookmarks, state, commands);
}

}  // namespace shardlens::ui::inspect
