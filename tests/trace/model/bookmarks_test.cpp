#include "trace/model/bookmarks.h"

#include <gtest/gtest.h>

namespace shardlens::trace::model {
namespace {

TEST(Bookmarks, SurviveWritingAndReading) {
  const Bookmarks bookmarks{
      {-5, ""}, {1'790'000'000'123'456'789, "late | rank 3"}, {INT64_MAX, "12 of them 🚀"}};
  EXPECT_EQ(parse_bookmarks(bookmarks_text(bookmarks)), bookmarks);
  EXPECT_EQ(parse_bookmarks(""), Bookmarks{});
}

TEST(Bookmarks, StayInOrderAndAreRenamedWhereTheyAre) {
  Bookmarks bookmarks;
  for (const std::int64_t time : {500, 100, 300}) change_bookmarks(bookmarks, {time, "a"});
  change_bookmarks(bookmarks, {300, "b"});
  change_bookmarks(bookmarks, {500, {}});
  change_bookmarks(bookmarks, {501, {}});
  EXPECT_EQ(bookmarks, (Bookmarks{{100, "a"}, {300, "b"}}));
}

TEST(Bookmarks, HaveANameOfOneLineThatCanBePrinted) {
  Bookmarks bookmarks;
  change_bookmarks(bookmarks, {7, " first\n8 second \u202e"});
  const auto read = parse_bookmarks(bookmarks_text(bookmarks));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read, bookmarks);
  EXPECT_TRUE(read[0].name.starts_with("first")) << read[0].name;
}

TEST(Bookmarks, AreNotReadFromLinesThatAreNone) {
  EXPECT_EQ(parse_bookmarks("soon\n\n  \n99999999999999999999 far\n3x\n4\n"),
            (Bookmarks{{3, "x"}, {4, ""}}));
}

TEST(Bookmarks, AreNoMoreThanAListCanHold) {
  Bookmarks bookmarks;
  for (std::size_t i = 0; i < 2 * kMostBookmarks; ++i) {
    change_bookmarks(bookmarks, {static_cast<std::int64_t>(i), ""});
  }
  EXPECT_EQ(bookmarks.size(), kMostBookmarks);
  change_bookmarks(bookmarks, {3, "still renamed"});
  EXPECT_EQ(bookmarks[3].name, "still renamed");
}

}  // namespace
}  // namespace shardlens::trace::model
