#include "app/lessons/lesson_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/files.h"
#include "trace/base/printable.h"

namespace shardlens::app::lessons {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;
using trace::base::ErrorKind;
using ui::state::Lesson;
using ui::state::LessonPage;
using ui::state::LessonParagraph;
using ui::state::StyledText;
using ui::state::TextStyle;
using Kind = LessonParagraph::Kind;

const std::string kBegin = "# Title\n\n## Page\n\n";  // its next line is the fifth
constexpr std::string_view kView = "```\n./run --view 'tune/a.shardlens?step=3'\n```\n";

class LessonFile : public testing::Test {
 protected:
  trace::base::Result<Lesson> read(const std::string& text) const {
    return read_lesson(folder_.write("buckets.md", text));
  }
  // Of a file that is refused.
  std::string wrong(const std::string& text) const {
    const auto lesson = read(text);
    if (lesson) return "was read";
    EXPECT_EQ(lesson.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(lesson.error().message, trace::base::printable_line(lesson.error().message));
    return lesson.error().message;
  }
  std::string wrong_page(const std::string& text) const { return wrong(kBegin + text); }
  LessonPage page(const std::string& text) const {
    const auto lesson = read(kBegin + text);
    if (lesson && lesson->pages.size() == 1) return lesson->pages.front();
    ADD_FAILURE() << (lesson ? "pages: " + std::to_string(lesson->pages.size())
                             : lesson.error().message);
    return {};
  }

  const trace::test::Folder folder_;
};

std::vector<LessonParagraph> plain(const std::string& text) {
  return {{Kind::kText, {{TextStyle::kPlain, text}}}};
}

TEST_F(LessonFile, HasATitleWhatItIsAboutAndPages) {
  const auto lesson = read(
      "# Buckets, *and* more\n\nWhat it is\nabout.\n\n## First\n\nOne.\n\n## Second\n\nTwo.\n");
  ASSERT_TRUE(lesson) << lesson.error().message;
  EXPECT_EQ(lesson->title, "Buckets, and more");
  EXPECT_EQ(lesson->file, (folder_ / "buckets.md").string());
  EXPECT_EQ(lesson->about, plain("What it is about."));
  ASSERT_THAT(lesson->pages, SizeIs(2));
  EXPECT_EQ(lesson->pages[0].title, "First");
  EXPECT_EQ(lesson->pages[1].title, "Second");
  EXPECT_EQ(lesson->pages[1].text, plain("Two."));
  EXPECT_FALSE(lesson->pages[0].view);
}

TEST_F(LessonFile, WordsHaveStyles) {
  const auto text = page("a **strong *both* word**, *soft* `co  de` [link](http://x), ä\\*\n").text;
  ASSERT_THAT(text, SizeIs(1));
  EXPECT_THAT(
      text[0].runs,
      ElementsAre(StyledText{TextStyle::kPlain, "a "},
                  StyledText{TextStyle::kStrong, "strong both word"},
                  StyledText{TextStyle::kPlain, ", "}, StyledText{TextStyle::kEmphasis, "soft"},
                  StyledText{TextStyle::kPlain, " "}, StyledText{TextStyle::kCode, "co  de"},
                  StyledText{TextStyle::kPlain, " link, ä*"}));
}

TEST_F(LessonFile, ListsAreParagraphsAndNumbersStay) {
  const auto text = page("- one\n  more\n- two\n\n3. three\n4. *four*\n").text;
  ASSERT_THAT(text, SizeIs(4));
  EXPECT_EQ(text[0], (LessonParagraph{Kind::kBullet, {{TextStyle::kPlain, "one more"}}}));
  EXPECT_EQ(text[1].kind, Kind::kBullet);
  EXPECT_EQ(text[2], plain("3. three").front());
  EXPECT_THAT(text[3].runs, ElementsAre(StyledText{TextStyle::kPlain, "4. "},
                                        StyledText{TextStyle::kEmphasis, "four"}));
}

TEST_F(LessonFile, CodeKeepsItsLines) {
  const auto text = page("```sh\n./run run\n\n  --ranks 2\n```\n").text;
  ASSERT_THAT(text, SizeIs(1));
  EXPECT_EQ(text[0].kind, Kind::kCode);
  EXPECT_THAT(text[0].runs, ElementsAre(StyledText{TextStyle::kCode, "./run run\n\n  --ranks 2"}));
}

TEST_F(LessonFile, ABlockOfCodeNamesThePagesView) {
  const LessonPage shown = page("Text.\n\n" + std::string(kView));
  ASSERT_TRUE(shown.view);
  EXPECT_EQ(shown.view->workspace, "tune");
  EXPECT_EQ(shown.view->run, "a.shardlens");
  EXPECT_EQ(shown.view->step, 3);
  EXPECT_EQ(shown.replay_speed, 0);
  EXPECT_EQ(shown.text, plain("Text.")) << "the block is no text";
  EXPECT_TRUE(page("```\nshardlens --view 'inspect/a'\n```\n").view);
}

TEST_F(LessonFile, AReplayBesideTheViewPlaysItsRun) {
  const auto speed = [this](const std::string& replay) {
    return page("```\n./run --view 'inspect/a b'\n" + replay + "\n```\n").replay_speed;
  };
  EXPECT_EQ(speed("./run replay 'a b' --speed 0.02"), 0.02);
  EXPECT_EQ(speed("shardlens replay --speed=100 \"a b\""), 100);
  const LessonPage typed = page("```\n./run replay a --speed 2\n```\n");
  EXPECT_FALSE(typed.view);
  EXPECT_THAT(typed.text, SizeIs(1)) << "without a view it is for readers";
}

TEST_F(LessonFile, AQuestionHasAFoldedAnswer) {
  for (const char* const open :
       {"<details><summary>Why so?</summary>", "<details>\n<summary>Why\nso?</summary>"}) {
    const LessonPage asked =
        page(std::string("Text.\n\n") + open + "\n\nBecause.\n\n</details>\n\nMore.\n");
    EXPECT_EQ(asked.question, "Why so?");
    EXPECT_EQ(asked.answer, plain("Because."));
    EXPECT_THAT(asked.text, SizeIs(2)) << "what follows the answer is text again";
  }
  const LessonPage compared = page(
      "<details><summary>Is A &lt; B &amp; C, as in &amp;gt; or "
      "R&D?</summary>\n\nYes.\n\n</details>\n");
  EXPECT_EQ(compared.question, "Is A < B & C, as in &gt; or R&D?") << "as a web page shows it";
}

TEST_F(LessonFile, CommentsAreForAuthors) {
  EXPECT_EQ(page("<!-- to do -->\n\nA <!-- here --> b.\n").text, plain("A  b."));
}

TEST_F(LessonFile, WindowsLineEndsAndAMarkOfOrderAreNoText) {
  const auto lesson = read("\xef\xbb\xbf# T\r\n\r\n## P\r\n\r\n```\r\na\r\nb\r\n```\r\n");
  ASSERT_TRUE(lesson) << lesson.error().message;
  EXPECT_EQ(lesson->title, "T");
  EXPECT_EQ(lesson->pages[0].text[0].runs[0].text, "a\nb");
}

TEST_F(LessonFile, NeedsATitleAndPages) {
  EXPECT_THAT(wrong(""), StartsWith("buckets.md:1: a lesson begins with #"));
  EXPECT_THAT(wrong("\n\nwords\n"), StartsWith("buckets.md:3: a lesson begins with #"));
  EXPECT_THAT(wrong("## Page\n"), StartsWith("buckets.md:1: a lesson begins with #"));
  EXPECT_THAT(wrong("# Title\n\nwords\n"), StartsWith("buckets.md:1: a lesson has pages"));
  EXPECT_THAT(wrong("# Title\n\n##\n"), StartsWith("buckets.md:3: a heading needs words"));
  EXPECT_THAT(wrong(kBegin + "# Another\n"), StartsWith("buckets.md:5: a file is one lesson"));
  EXPECT_THAT(wrong_page("### Deeper\n"), AllOf(StartsWith("buckets.md:5: "), HasSubstr("Deeper")));
}

TEST_F(LessonFile, APageHasTextOrAView) {
  const std::string empty = "buckets.md:3: this page has neither text nor view";
  EXPECT_THAT(wrong(kBegin), StartsWith(empty));
  EXPECT_THAT(wrong(kBegin + "<!-- to do -->\n\n## Next\n\nText.\n"), StartsWith(empty));
  EXPECT_THAT(wrong(kBegin + "Text.\n\n## Next\n"), StartsWith("buckets.md:7: this page has"));
  EXPECT_TRUE(page(std::string(kView)).view);
  EXPECT_EQ(page("<details><summary>Q</summary>\n\nA.\n\n</details>\n").question, "Q");
}

TEST_F(LessonFile, APageShowsOneView) {
  const std::string view(kView);
  EXPECT_THAT(wrong_page(view + "\n" + view),
              StartsWith("buckets.md:9: a page shows one view: begin another page with ##"));
  EXPECT_THAT(wrong_page("```\n./run --view 'tune/a'\n./run --view 'tune/b'\n```\n"),
              StartsWith("buckets.md:7: a page shows one view"));
  EXPECT_THAT(wrong("# Title\n\n" + view), StartsWith("buckets.md:3: a view belongs to a page"));
  EXPECT_THAT(wrong_page("<details><summary>Q</summary>\n\n" + view + "\n</details>\n"),
              StartsWith("buckets.md:7: a view belongs to a page"));
}

TEST_F(LessonFile, ViewsAndReplaysAreChecked) {
  const auto view = [this](const std::string& lines) {
    return wrong_page("\n```\n./run --view " + lines + "\n```\n");
  };
  EXPECT_THAT(view("'elsewhere/a'"), AllOf(StartsWith("buckets.md:7: "), HasSubstr("tune/")));
  EXPECT_THAT(view("'tune/a?step=many'"), StartsWith("buckets.md:7: "));
  EXPECT_THAT(view("'tune/a?set=bucket_cap=1'"), HasSubstr("bucket_cap_mb"));
  EXPECT_THAT(view("'inspect/a?tab=Kernel'"), HasSubstr("the nearest is \"Kernels\""));
  EXPECT_THAT(view("'tune/a'\nls"), AllOf(StartsWith("buckets.md:8: "), HasSubstr("\"ls\"")));
  const std::string tune = "'tune/a'\n./run replay ";
  EXPECT_THAT(view(tune + "b --speed 1"),
              StartsWith("buckets.md:8: the page shows a, and plays b"));
  for (const std::string& speed : std::vector<std::string>{"0", "101", "nan", "-1", "1x", ""}) {
    EXPECT_THAT(view(tune + "a --speed=" + speed),
                StartsWith("buckets.md:8: \"" + speed + "\" is no speed of a replay"));
  }
  EXPECT_THAT(view(tune + "a"), HasSubstr("from 0.01 to 100"));
  EXPECT_THAT(view(tune + "a --speed 1\n./run replay a --speed 2"), StartsWith("buckets.md:9: "));
  EXPECT_THAT(view("'compare/a,b'\n./run replay a --speed 1"),
              StartsWith("buckets.md:8: runs beside each other are not played"));
}

TEST_F(LessonFile, QuestionsAreComplete) {
  const std::string open = "<details><summary>Q</summary>\n\n", close = "\n</details>\n\n";
  EXPECT_THAT(wrong_page(open + "Answer.\n"), StartsWith("buckets.md:5: this <details> is not"));
  EXPECT_THAT(wrong_page(open + "A.\n\n## Next\n"), StartsWith("buckets.md:5: this <details>"));
  EXPECT_THAT(wrong_page(open + "A.\n\n" + open), StartsWith("buckets.md:5: this <details>"));
  EXPECT_THAT(wrong_page(open + close), StartsWith("buckets.md:8: the question has no answer"));
  EXPECT_THAT(wrong_page("</details>\n"), StartsWith("buckets.md:5: no <details> is open"));
  EXPECT_THAT(wrong_page(open + "A.\n" + close + open + "B.\n" + close),
              StartsWith("buckets.md:11: a page asks one question"));
  EXPECT_THAT(wrong("# T\n\n" + open + "A.\n" + close),
              StartsWith("buckets.md:3: a question belongs to a page"));
  for (const char* const bad :
       {"<details>\n\nA.\n", "<details><summary></summary>\n\n",
        "<details open><summary>Q</summary>\n",
        "<details><summary>Q</summary>\nA, with no line between.\n</details>\n",
        "<details><summary><b>Q</b></summary>\n"}) {
    EXPECT_THAT(wrong_page(bad), StartsWith("buckets.md:5: a question is <details>")) << bad;
  }
}

TEST_F(LessonFile, WhatIsNotShownIsRefusedByLine) {
  EXPECT_THAT(wrong_page("a\nb <b>c</b>\n"), StartsWith("buckets.md:6: HTML within a line"));
  EXPECT_THAT(wrong_page("<div>\nx\n</div>\n"), StartsWith("buckets.md:5: HTML is not shown"));
  EXPECT_THAT(wrong_page("a\nb ![p](q.png)\n"), StartsWith("buckets.md:6: pictures"));
  EXPECT_THAT(wrong_page("| a | b |\n|---|---|\n"), StartsWith("buckets.md:5: tables"));
  EXPECT_THAT(wrong_page("> said\n"), StartsWith("buckets.md:5: a quotation"));
  EXPECT_THAT(wrong_page("a\n\n---\n"), StartsWith("buckets.md:7: a rule"));
  EXPECT_THAT(wrong_page("- a\n- b\n  - c\n"), StartsWith("buckets.md:6: an entry of a list"));
  EXPECT_THAT(wrong_page("- a\n\n  ```\n  x\n  ```\n"), StartsWith("buckets.md:5: an entry"));
  EXPECT_THAT(wrong_page("```\n./run\n\n## Lost\n"),
              StartsWith("buckets.md:5: this block of code is not closed"));
  EXPECT_THAT(wrong_page("```"), StartsWith("buckets.md:5: this block of code is not closed"));
  EXPECT_THAT(wrong_page("a\nb\xff\n"), StartsWith("buckets.md:6: this is not UTF-8"));
}

TEST_F(LessonFile, WhatWouldMoveACursorIsNoText) {
  const LessonPage shown = page(std::string("a\x1b[2Jb\0c \xe2\x80\xae", 12) + "\n");
  ASSERT_THAT(shown.text, SizeIs(1));
  EXPECT_EQ(shown.text[0].runs[0].text, "a\uFFFD[2Jb\uFFFDc \uFFFD");
}

TEST_F(LessonFile, HostileOnesAreRefusedSoon) {
  const auto many = [](std::string_view text, std::size_t bytes) {
    std::string all;
    while (all.size() + text.size() <= bytes) all += text;
    return all;
  };
  EXPECT_THAT(wrong(many("[", 1 << 20)), HasSubstr("larger than 64 KiB"));
  const std::size_t most = kLargestLesson - kBegin.size() - 1;
  for (const std::string_view text :
       {"[", ">", "> ", "- ", "*a_ ", "**", "![[]()", "<", "<!--", "`", "[a](", "\\", "&#", "1) ",
        "<details>", "```\n", "#", "\r", "a\n\n"}) {
    const auto lesson = read(kBegin + many(text, most) + "\n");
    // Read or refused, and told on one line.
    const std::string said = lesson ? lesson->title : lesson.error().message;
    EXPECT_EQ(said, trace::base::printable_line(said)) << text;
    EXPECT_LE(said.size(), 1000U) << text;
  }
}

TEST_F(LessonFile, ThatIsNotThereIsMissing) {
  for (const fs::path& file : {folder_ / "none.md", folder_.path()}) {
    const auto lesson = read_lesson(file);
    ASSERT_FALSE(lesson);
    EXPECT_EQ(lesson.error().kind, ErrorKind::kMissing) << lesson.error().message;
  }
  const fs::path pipe = folder_ / "pipe.md";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_FALSE(read_lesson(pipe)) << "nobody writes to it";
}

TEST_F(LessonFile, AFolderIsAShelfInOrderOfNames) {
  for (const char* const name : {"2_b.md", "1_a.md", "README.md", "notes.txt"}) {
    folder_.write(fs::path("shelf") / name, std::string("# ") + name + "\n\n## P\n\nText.\n");
  }
  folder_.write("shelf/3_c.md", "no lesson\n");
  folder_.write("empty/README.md", "");
  const auto shelf = read_lessons({folder_ / "shelf", folder_ / "shelf/1_a.md", folder_ / "empty",
                                   folder_ / "none.md", fs::path()});
  ASSERT_THAT(shelf.lessons, SizeIs(3));
  EXPECT_EQ(shelf.lessons[0].title, "1_a.md");
  EXPECT_EQ(shelf.lessons[1].title, "2_b.md");
  EXPECT_EQ(shelf.lessons[2].title, "1_a.md");
  EXPECT_THAT(shelf.problems,
              ElementsAre(StartsWith("3_c.md:1: "), HasSubstr("holds no lessons"),
                          HasSubstr("none.md"), HasSubstr("came with this program")));
}

}  // namespace
}  // namespace shardlens::app::lessons
