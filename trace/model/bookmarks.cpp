#include "trace/model/bookmarks.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "trace/base/printable.h"
#include "trace/base/text.h"

namespace shardlens::trace::model {

namespace {
constexpr std::size_t kLongestBookmarkName = 1000;  // a foreign file may hold any
}  // namespace

void change_bookmarks(Bookmarks& bookmarks, const BookmarkChange& change) {
  const auto at = std::ranges::lower_bound(bookmarks, change.time_ns, {}, &Bookmark::time_ns);
  const bool is_there = at != bookmarks.end() && at->time_ns == change.time_ns;
  if (!change.name) {
    if (is_there) bookmarks.erase(at);
    return;
  }
  std::string name =
      base::printable_line(base::shortened(base::trimmed(*change.name), kLongestBookmarkName));
  if (is_there) {
    at->name = std::move(name);
  } else if (bookmarks.size() < kMostBookmarks) {
    bookmarks.insert(at, {change.time_ns, std::move(name)});
  }
}

std::string bookmarks_text(const Bookmarks& bookmarks) {
  std::string text;
  for (const Bookmark& bookmark : bookmarks) {
    text += std::to_string(bookmark.time_ns) + " " + bookmark.name + "\n";
  }
  return text;
}

Bookmarks parse_bookmarks(std::string_view text) {
  Bookmarks bookmarks;
  for (const std::string_view line : base::split(text, '\n')) {
    std::int64_t time_ns = 0;
    const auto read = std::from_chars(line.data(), line.data() + line.size(), time_ns);
    if (read.ec != std::errc()) continue;
    const auto digits = static_cast<std::size_t>(read.ptr - line.data());
    change_bookmarks(bookmarks, {time_ns, std::string(line.substr(digits))});
  }
  return bookmarks;
}

}  // namespace shardlens::trace::model
