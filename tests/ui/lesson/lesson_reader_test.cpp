#include "ui/lesson/lesson_reader.h"

#include <gtest/gtest.h>

#include "tests/ui/testing/sample_lessons.h"

namespace shardlens::ui::lesson {
namespace {

struct LessonReaderTest : testing::Test {
  LessonReader reader;

  LessonReaderTest() { reader.take(sample_lessons()); }
};

TEST_F(LessonReaderTest, GoesFromPageToPageAndFromLessonToLesson) {
  EXPECT_EQ(reader.page(), nullptr);
  reader.go_back();
  EXPECT_EQ(reader.page(), nullptr);
  reader.go_on();
  ASSERT_NE(reader.page(), nullptr);
  EXPECT_EQ(reader.page()->title, "Where a bucket begins");
  reader.go_on();
  reader.go_on();
  EXPECT_EQ(reader.page()->title, "Bucket by bucket");
  EXPECT_TRUE(reader.is_last_page());
  EXPECT_TRUE(reader.has_next_lesson());
  reader.go_on();
  EXPECT_EQ(reader.lesson()->title, "Beside each other");
  EXPECT_FALSE(reader.has_next_lesson());
  reader.go_on();
  EXPECT_EQ(reader.lesson(), nullptr);
  reader.open(0, 1);
  reader.go_back();
  EXPECT_EQ(reader.page_index(), 0u);
  reader.go_back();
  EXPECT_EQ(reader.lesson(), nullptr);
}

TEST_F(LessonReaderTest, ALessonIsReadAtItsLastPage) {
  reader.open(0);
  EXPECT_FALSE(reader.was_read(0));
  reader.turn_to(2);
  EXPECT_TRUE(reader.was_read(0));
  EXPECT_FALSE(reader.was_read(1));
  reader.open(1);
  EXPECT_TRUE(reader.was_read(1)) << "it has one page";
}

TEST_F(LessonReaderTest, AsksForEachViewOnce) {
  EXPECT_FALSE(reader.take_wanted());
  reader.open(0);
  const auto wanted = reader.take_wanted();
  ASSERT_TRUE(wanted);
  EXPECT_EQ(wanted->address.workspace, state::kTuneWorkspace);
  EXPECT_EQ(wanted->lesson_file, "lessons/1_buckets.md");
  EXPECT_EQ(wanted->replay_speed, 0);
  EXPECT_FALSE(reader.take_wanted());
  reader.show_view_again();
  EXPECT_TRUE(reader.take_wanted());
  reader.go_on();
  EXPECT_TRUE(reader.has_view());
  EXPECT_FALSE(reader.take_wanted()) << "what the page before shows stays";
  reader.go_on();
  const auto played = reader.take_wanted();
  ASSERT_TRUE(played);
  EXPECT_EQ(played->replay_speed, 0.05);
  reader.go_back();
  const auto before = reader.take_wanted();
  ASSERT_TRUE(before) << "of the page before that one, which has none of its own";
  EXPECT_EQ(before->address.workspace, state::kTuneWorkspace);
}

TEST_F(LessonReaderTest, AnAnswerIsFoldedOnTheNextPage) {
  reader.open(0);
  reader.show_answer(true);
  EXPECT_TRUE(reader.shows_answer());
  reader.go_on();
  EXPECT_FALSE(reader.shows_answer());
}

TEST(LessonReader, OpensAPageThatIsStillToBeRead) {
  LessonReader reader;
  reader.open(1, 0);
  EXPECT_EQ(reader.page(), nullptr);
  EXPECT_FALSE(reader.take_wanted());
  reader.take(sample_lessons());
  ASSERT_NE(reader.page(), nullptr);
  EXPECT_TRUE(reader.was_read(1));
  EXPECT_TRUE(reader.take_wanted());
  reader.open(7, 0);
  EXPECT_EQ(reader.page(), nullptr);
  reader.go_on();
  EXPECT_EQ(reader.lesson_index(), 0u) << "as from the shelf, which is what was shown";
}

}  // namespace
}  // namespace shardlens::ui::lesson
