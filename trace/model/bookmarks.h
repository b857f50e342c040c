// Places of a run that are to be found again, with a name that may be a note. Plain values, any
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardlens::trace::model {

struct Bookmark {
  std::int64_t time_ns = 0;  // absolute
  std::string name;          // on one line; "": a bare time

  bool operator==(const Bookmark&) const = default;
};

using Bookmarks = std::vector<Bookmark>;  // by time, one at a time

inline constexpr std::size_t kMostBookmarks = 200;  // of one run: beyond it a list helps nobody

struct BookmarkChange {
  std::int64_t time_ns = 0;
  std::optional<std::string> name;  // set, or renamed where there is one; none: taken away
};

// Another one than kMostBookmarks is not set.
void change_bookmarks(Bookmarks& bookmarks, const BookmarkChange& change);

// A line for each, "1790000000000000000 name"; of a line that is none nothing is read.
std::string bookmarks_text(const Bookmarks& bookmarks);
Bookmarks parse_bookmarks(std::string_view text);

}  // namespace shardlens::trace::model
