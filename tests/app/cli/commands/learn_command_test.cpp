// `learn` where there is no window: text, lists, checks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "app/cli/terminal/lesson_text.h"
#include "app/cli/terminal/output.h"
#include "app/report/report_json.h"
#include "app/report/text_table.h"
#include "tests/app/cli/called_command.h"
#include "tests/app/report/synthetic_run.h"
#include "tests/files.h"
#include "trace/base/text.h"

namespace shardlens::app::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::string kLessons = std::string(SHARDLENS_SOURCE_DIR) + "/assets/lessons";

std::string page_of(const std::string& title, const std::string& view) {
  return "## " + title + "\n\n```\n./run --view '" + view + "'\n```\n\nText of it.\n";
}

TEST(LearnCommand, ListsTitlesAndPages) {
  const Called listed = called({"learn", kLessons, "--list"});
  EXPECT_EQ(listed.code, kDone) << listed.err;
  EXPECT_THAT(listed.out, AllOf(StartsWith("1. Reading a step\n     1. One bar is one step\n"),
                                HasSubstr("\n2. Buckets, and what overlap is\n")));
  const Called json = called({"learn", kLessons, "--json"});
  const auto lessons = report::Json::parse(json.out);
  ASSERT_EQ(lessons.size(), 8U);
  const auto& played = lessons[1]["pages"][3];
  EXPECT_EQ(played["view"],
            "inspect/slow_link_cap_1.shardlens?tab=Collectives&shown_ns=0..980000000");
  EXPECT_EQ(played["replay_speed"], 0.2);
  EXPECT_THAT(played["question"].get<std::string>(), StartsWith("Step 0 is unlike"));
  EXPECT_TRUE(lessons[0]["pages"][1]["view"].is_null()) << "that of the page before stays";
  EXPECT_TRUE(lessons[0]["pages"][0]["replay_speed"].is_null());
}

TEST(LearnCommand, WithoutADisplayItPrintsTheLessons) {
  const Called all = called({"learn", kLessons});
  EXPECT_EQ(all.code, kDone) << all.err;
  EXPECT_THAT(all.out,
              AllOf(StartsWith("Reading a step\n==============\n"),
                    HasSubstr("\n\n\nBuckets, and what overlap is\n"),
                    HasSubstr("\n    shardlens --view 'tune/rank_1_late.shardlens?step=23'\n"),
                    HasSubstr("Question: Is waiting always exposed?\n\nAnswer: No. ")));
  for (const auto line : trace::base::split(all.out, '\n')) {
    const bool is_code = line.starts_with("    ");
    EXPECT_TRUE(is_code || report::display_width(line) <= kTextWidth) << line;
  }
  const Called page = called({"learn", kLessons, "--lesson", "2", "--page", "4"});
  EXPECT_THAT(page.out,
              AllOf(StartsWith("4. Played slowly\n"),
                    HasSubstr("    shardlens replay 'slow_link_cap_1.shardlens' --speed 0.2\n"),
                    Not(HasSubstr("1. "))));
  const Called beyond = called({"learn", kLessons, "--lesson", "2", "--page", "5"});
  EXPECT_EQ(beyond.code, kWrongUse);
  EXPECT_THAT(beyond.err, HasSubstr("has no page 5; it has 4 pages."));
  EXPECT_THAT(called({"learn", kLessons, "--lesson", "9"}).err, HasSubstr("there are 8 lessons"));
  EXPECT_EQ(called({"learn", kLessons, "--page", "1"}).code, kWrongUse) << "of which lesson?";
}

TEST(LearnCommand, ChecksWhatAnAuthorWrote) {
  const trace::test::Folder folder;
  const auto library = folder / "runs";
  const std::string run = report::write_synthetic_run(library).folder.filename();
  const std::string good = folder.write("good.md", "# Good\n\n" + page_of("One", "tune/" + run) +
                                                       page_of("Two", "inspect/made%20up"));
  const auto checked = [&](const std::string& file) {
    return called({"learn", file, "--check", "--runs-dir", library.string()});
  };
  const Called intact = checked(good);
  EXPECT_EQ(intact.code, kDone) << intact.err;
  EXPECT_THAT(intact.out, StartsWith("Intact: 1 lesson with 2 pages"));

  const std::string absent = folder.write("absent.md", "# Absent\n\n" + page_of("P", "tune/none"));
  EXPECT_EQ(checked(absent).code, kFailed);
  EXPECT_THAT(checked(absent).out,
              AllOf(StartsWith("absent.md: "), HasSubstr("'none'"), HasSubstr("(page 1, \"P\")")));
  const std::string late =
      folder.write("late.md", "# Late\n\n" + page_of("P", "tune/" + run + "?step=100000"));
  EXPECT_EQ(checked(late).code, kFailed);
  EXPECT_THAT(checked(late).out, HasSubstr(", and no step 100000 (page 1, \"P\")"));
  const std::string wrong = folder.write("wrong.md", "# Wrong\n\n## P\n\n### Q\n");
  const Called told = called({"learn", wrong, good, "--check", "--json", "--runs-dir", library});
  EXPECT_EQ(told.code, kFailed);
  const auto json = report::Json::parse(told.out);
  EXPECT_EQ(json["intact"], false);
  EXPECT_EQ(json["lessons"], 1);
  EXPECT_EQ(json["pages"], 2);
  EXPECT_THAT(json["problems"][0].get<std::string>(), StartsWith("wrong.md:5: "));

  const Called unread = called({"learn", wrong});
  EXPECT_EQ(unread.code, kFailed);
  EXPECT_THAT(unread.out, IsEmpty());
  EXPECT_THAT(unread.err, HasSubstr("wrong.md:5: headings below ## are not shown"));
}

TEST(LearnCommand, ChecksThatSomethingWasRecordedInTheTimesOfAView) {
  const trace::test::Folder folder;
  const std::string run = report::write_synthetic_run(folder.path()).folder.filename();
  const auto checked = [&](const std::string& options) {
    const auto lesson =
        folder.write("lesson.md", "# L\n\n" + page_of("P", "inspect/" + run + "?" + options));
    return called({"learn", lesson, "--check", "--runs-dir", folder.path()}).out;
  };
  for (const char* const options :
       {"shown_ns=1000000..95000000", "shown_ns=-9000000..1000&selected_ns=1000..2000",
        "steps_of_rank=0&step=1&shown_ns=90000000..95000000"}) {
    EXPECT_THAT(checked(options), StartsWith("Intact: ")) << options;
  }
  // The run ends after 19 ms, what it recorded before.
  for (const char* const times : {"18500000..18900000", "90000000..95000000", "-9000..-8000"}) {
    const auto is_told = AllOf(StartsWith("lesson.md: " + run + " has times from 0 to 18"),
                               HasSubstr(std::string(" ns, and none of ") + times + " (page 1"));
    EXPECT_THAT(checked(std::string("shown_ns=") + times), is_told);
    EXPECT_THAT(checked(std::string("shown_ns=1000..2000&selected_ns=") + times), is_told);
  }
}

TEST(LearnCommand, RunsBesideTheLessonAreFound) {
  const trace::test::Folder folder;
  const std::string run = report::write_synthetic_run(folder / "workshop").folder.filename();
  folder.write("workshop/lesson.md", "# L\n\n" + page_of("P", "compare/" + run + "," + run));
  const Called outcome =
      called({"learn", folder / "workshop", "--check", "--runs-dir", folder / "elsewhere"});
  EXPECT_EQ(outcome.code, kDone) << outcome.out;

  folder.write("workshop/rank_1_late.shardlens", "");
  const std::string typo =
      folder.write("workshop/typo.md", "# T\n\n" + page_of("P", "tune/rank_1late.shardlens"));
  EXPECT_THAT(called({"learn", typo, "--check", "--runs-dir", folder / "elsewhere"}).out,
              HasSubstr("Did you mean 'rank_1_late.shardlens'? (page 1, \"P\")"));
}

TEST(LearnCommand, BundledLessonsAreIntact) {
  const Called outcome = called({"learn", kLessons, "--check", "--runs-dir",
                                 std::string(SHARDLENS_SOURCE_DIR) + "/assets/runs"});
  EXPECT_EQ(outcome.code, kDone) << outcome.out;
}

TEST(LessonText, IsWrappedBetweenWords) {
  const std::string word(50, 'x');
  EXPECT_EQ(wrapped(word + " " + word, "- "), "- " + word + "\n  " + word + "\n");
  EXPECT_EQ(wrapped("ä b"), "ä b\n");
  const std::string longest(kTextWidth + 5, 'y');
  EXPECT_EQ(wrapped("a " + longest + " b"), "a\n" + longest + "\nb\n");
}

}  // namespace
}  // namespace shardlens::app::cli
