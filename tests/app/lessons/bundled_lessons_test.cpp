// The lessons that come with the program: they can be read, shown and taken in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/launch/program_files.h"
#include "app/lessons/lesson_file.h"
#include "trace/base/text.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::lessons {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using ui::state::LessonPage;
using ui::state::LessonParagraph;

const fs::path kAssets = fs::path(SHARDLENS_SOURCE_DIR) / "assets";

std::size_t words_of(const std::vector<LessonParagraph>& text) {
  std::size_t count = 0;
  for (const LessonParagraph& paragraph : text) {
    if (paragraph.kind == LessonParagraph::Kind::kCode) continue;
    for (const auto& run : paragraph.runs) {
      const auto words = trace::base::split(run.text, ' ');
      count += static_cast<std::size_t>(
          std::ranges::count_if(words, [](std::string_view word) { return !word.empty(); }));
    }
  }
  return count;
}

TEST(BundledLessons, LieBesideTheRuns) {
  EXPECT_EQ(bundled_lessons().parent_path().string(),
            launch::bundled_runs().parent_path().string());
}

TEST(BundledLessons, AreReadWithoutAProblem) {
  const auto shelf = read_lessons({kAssets / "lessons"});
  EXPECT_THAT(shelf.problems, IsEmpty());
  ASSERT_EQ(shelf.lessons.size(), 8U);
  EXPECT_EQ(shelf.lessons.front().title, "Reading a step");
  for (const auto& lesson : shelf.lessons) {
    EXPECT_FALSE(lesson.about.empty()) << lesson.file;
    EXPECT_TRUE(lesson.pages.front().view) << lesson.file << " would begin with any view";
  }
}

TEST(BundledLessons, PagesAreShort) {
  for (const auto& lesson : read_lessons({kAssets / "lessons"}).lessons) {
    EXPECT_GE(lesson.pages.size(), 2U) << lesson.file;
    EXPECT_LE(lesson.pages.size(), 5U) << lesson.file;
    for (const LessonPage& page : lesson.pages) {
      EXPECT_LE(words_of(page.text) + words_of(page.answer), 140U) << lesson.file << page.title;
      EXPECT_GE(words_of(page.text), 30U) << lesson.file << page.title;
    }
  }
}

TEST(BundledLessons, NameRunsThatAreThere) {
  for (const auto& lesson : read_lessons({kAssets / "lessons"}).lessons) {
    for (const LessonPage& page : lesson.pages) {
      if (!page.view) continue;
      std::vector<std::string> runs = page.view->others;
      runs.push_back(page.view->run);
      for (const std::string& run : runs) {
        // By its file, which is what "Copy this view" writes, too.
        const auto info = trace::store::read_run_info(kAssets / "runs" / run);
        EXPECT_TRUE(info) << lesson.file << ", " << page.title << ": " << run;
      }
    }
  }
}

}  // namespace
}  // namespace shardlens::app::lessons
