// Lessons take the screen, and give it back.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "tests/app/session/controller_fixture.h"
#include "ui/state/snapshot.h"
#include "ui/state/view_preferences.h"

namespace shardlens::app::session {
namespace {

namespace fs = std::filesystem;

struct LessonsTest : ControllerTest {
  // The user's.
  fs::path own = write_run("own", 25, 9'000'000'000);
  // Of a library that is not the user's.
  fs::path examples = folder.path() / "examples";
  fs::path shown = write_example("shown", 4), other = write_example("other", 8);

  fs::path write_example(const std::string& name, double cap) {
    fs::create_directories(examples);
    SyntheticOptions options;
    options.name = name;
    options.settings.bucket_cap_mb = cap;
    return finished_run(examples, options, 12);
  }
  // With a cap of 60 set for the user's next run.
  void open_learning() {
    open([&](ControllerOptions& options) { options.bundled_dir = examples; });
    ASSERT_TRUE(shows("own"));
    ASSERT_TRUE(becomes([](const auto& now) { return !now.knobs.baseline_name.empty(); }));
    controller->execute(ui::state::SetKnob{"bucket_cap_mb", "60"});
    controller->execute(ui::state::ShowLessons{});
  }
  bool shows(const std::string& name) {
    return becomes([&](const auto& now) { return now.run && now.run->figures.info.name == name; });
  }
  static ui::state::GoToView view_of(const fs::path& run,
                                     const char* workspace = ui::state::kTuneWorkspace) {
    ui::state::GoToView view;
    view.address.workspace = workspace;
    view.address.run = run.filename().string();
    view.lesson_file = "lessons/buckets.md";
    return view;
  }
  void go_to(const ui::state::GoToView& view) {
    const auto before = controller->snapshot()->gone_to;
    controller->execute(view);
    ASSERT_TRUE(becomes([&](const auto& now) { return now.gone_to != before; }));
  }
};

TEST_F(LessonsTest, AreReadWhenLearnIsOpened) {
  const auto lesson =
      folder.write("lessons/1_buckets.md", "# Buckets\n\nWhat they are.\n\n## One\n\nA page.\n");
  open([&](ControllerOptions& options) { options.lessons = {lesson.parent_path()}; });
  EXPECT_EQ(controller->snapshot()->lessons, nullptr);
  controller->execute(ui::state::ShowLessons{});
  ASSERT_TRUE(becomes([](const auto& now) { return now.lessons != nullptr; }));
  const auto shelf = controller->snapshot()->lessons;
  EXPECT_EQ(shelf->problems, std::vector<std::string>{});
  ASSERT_EQ(shelf->lessons.size(), 1u);
  EXPECT_EQ(shelf->lessons[0].title, "Buckets");
  controller->execute(ui::state::ShowLessons{false});
  controller->execute(ui::state::ShowLessons{});
  EXPECT_EQ(controller->snapshot()->lessons, shelf);
}

TEST_F(LessonsTest, APageShowsItsRunAndLeavingBringsTheUsersBack) {
  open_learning();
  go_to(view_of(shown));
  EXPECT_TRUE(shows("shown"));
  EXPECT_EQ(controller->snapshot()->gone_to->run, shown.filename().string());
  controller->execute(ui::state::CopySettings{shown.string()});
  EXPECT_EQ(controller->snapshot()->knobs.next.bucket_cap_mb, 4);
  controller->execute(ui::state::ShowLessons{false});
  EXPECT_TRUE(shows("own"));
  EXPECT_EQ(controller->snapshot()->knobs.next.bucket_cap_mb, 60);
}

// Which would make the last run the baseline.
TEST_F(LessonsTest, WhatAPageSetsIsNoChangeOfTheUsers) {
  open_learning();
  write_run("second", 4, 10'000'000'000);
  ASSERT_TRUE(becomes([](const auto& now) {
    return now.ledger->rows.size() == 4 &&
           now.ledger->rows[0].status == trace::model::RunStatus::kDone;
  }));
  go_to(view_of(shown));
  controller->execute(ui::state::CopySettings{shown.string()});
  controller->execute(ui::state::SetKnob{"bucket_cap_mb", "7"});
  EXPECT_EQ(controller->snapshot()->knobs.baseline_name, "run 1");
  controller->execute(ui::state::ShowLessons{false});
  controller->execute(ui::state::SetKnob{"bucket_cap_mb", "7"});
  EXPECT_EQ(controller->snapshot()->knobs.baseline_name, "run 2");
}

TEST_F(LessonsTest, OfOneRunAPageThatNamesNoStepShowsATypicalOne) {
  open_learning();
  go_to(view_of(shown));
  ASSERT_TRUE(shows("shown"));
  ASSERT_TRUE(becomes(
      [](const auto& now) { return now.run->figures.steps.size() == 12 && now.run->timeline; }));
  const auto typical = controller->snapshot()->run->selected_step;
  const auto selects = [&](std::int64_t step) {
    return becomes([&](const auto& now) { return now.run && now.run->selected_step == step; });
  };
  const std::int64_t another = typical == 11 ? 10 : 11;
  controller->execute(ui::state::SelectStep{another});
  ASSERT_TRUE(selects(another));
  go_to(view_of(shown));
  EXPECT_TRUE(selects(typical));
}

TEST_F(LessonsTest, ARunBesideTheLessonComesBeforeOneOfThatName) {
  open_learning();
  const auto place = folder.path() / "course";
  fs::create_directories(place);
  SyntheticOptions options;
  options.name = "beside";
  fs::rename(finished_run(folder.path(), options), place / shown.filename());
  auto view = view_of(shown);
  view.lesson_file = (place / "lesson.md").string();
  go_to(view);
  EXPECT_TRUE(shows("beside"));
}

TEST_F(LessonsTest, AMissingRunIsNamedAndTheViewStays) {
  open_learning();
  controller->execute(view_of("gone away"));
  ASSERT_TRUE(becomes([](const auto& now) { return now.notice_is_error; }));
  const auto snapshot = controller->snapshot();
  EXPECT_NE(snapshot->notice.find("buckets.md"), std::string::npos) << snapshot->notice;
  EXPECT_NE(snapshot->notice.find("gone away"), std::string::npos) << snapshot->notice;
  EXPECT_EQ(snapshot->gone_to, nullptr);
  EXPECT_EQ(snapshot->run->figures.info.name, "own");
  controller->execute(ui::state::ShowLessons{false});
  EXPECT_EQ(controller->snapshot()->notice, "");
}

TEST_F(LessonsTest, WhatWasSaidSinceARunWasMissingStaysWhenTheyAreLeft) {
  open_learning();
  controller->execute(view_of("gone away"));
  ASSERT_TRUE(becomes([](const auto& now) { return now.notice_is_error; }));
  controller->execute(ui::state::SetKnob{"bucket_cap_mb", "plenty"});
  controller->execute(ui::state::ShowLessons{false});
  EXPECT_NE(controller->snapshot()->notice.find("bucket_cap_mb"), std::string::npos);
}

TEST_F(LessonsTest, ComparedRunsComeBack) {
  const auto older = write_run("older", 8, 1'000'000'000);
  open_learning();
  const auto compares = [&](const std::vector<std::string>& expected) {
    return becomes([&](const auto& now) {
      if (!now.comparison) return false;
      std::vector<std::string> compared;
      for (const auto& each : now.comparison->runs) compared.push_back(each.folder);
      return compared == expected;
    });
  };
  controller->execute(ui::state::CompareRuns{{own.string(), older.string()}});
  ASSERT_TRUE(compares({own.string(), older.string()}));
  auto view = view_of(shown, ui::state::kCompareWorkspace);
  view.address.others = {other.filename().string()};
  view.address.step = 2;
  go_to(view);
  EXPECT_TRUE(compares({shown.string(), other.string()}));
  EXPECT_EQ(controller->snapshot()->comparison->step, 2);
  controller->execute(ui::state::ShowLessons{false});
  EXPECT_TRUE(compares({own.string(), older.string()}));
  EXPECT_EQ(controller->snapshot()->comparison->step, -1);
}

TEST_F(LessonsTest, APageThatPlaysItsRunLeavesTheSpeedOfOnesOwnReplays) {
  open_learning();
  auto view = view_of(shown, ui::state::kInspectWorkspace);
  view.replay_speed = 0.05;
  go_to(view);
  ASSERT_TRUE(becomes([](const auto& now) { return now.replay.active; }));
  EXPECT_EQ(controller->snapshot()->replay.speed, 0.05);
  EXPECT_EQ(controller->replay_speed(), 1);
  controller->execute(ui::state::SetReplaySpeed{0.02});
  EXPECT_TRUE(becomes([](const auto& now) { return now.replay.speed == 0.02; }));
  EXPECT_EQ(controller->replay_speed(), 1) << "slower for a closer look";
  go_to(view_of(shown));
  EXPECT_TRUE(becomes([](const auto& now) { return !now.replay.active; }));
}

TEST_F(LessonsTest, AReplayComesBackWhereItWas) {
  open_learning();
  controller->execute(ui::state::StartReplay{own.string()});
  controller->execute(ui::state::SetReplayPlaying{false});
  controller->execute(ui::state::SetReplaySpeed{4});
  ASSERT_TRUE(becomes([](const auto& now) {
    return now.replay.active && !now.replay.playing && now.replay.speed == 4;
  }));
  const auto middle =
      (controller->snapshot()->replay.start_ns + controller->snapshot()->replay.end_ns) / 2;
  controller->execute(ui::state::SeekReplay{middle});
  ASSERT_TRUE(becomes([&](const auto& now) { return now.replay.now_ns == middle; }));
  go_to(view_of(shown));
  ASSERT_TRUE(becomes([](const auto& now) { return !now.replay.active; }));
  controller->execute(ui::state::ShowLessons{false});
  EXPECT_TRUE(becomes([&](const auto& now) {
    return now.replay.active && !now.replay.playing && now.replay.speed == 4 &&
           now.replay.now_ns == middle;
  }));
  EXPECT_TRUE(shows("own"));
}

TEST_F(LessonsTest, ARunThatIsStartedBesideThemStaysWithItsSettings) {
  const auto started = write_run("started", 4, 10'000'000'000);
  open([&](ControllerOptions& options) {
    options.bundled_dir = examples;
    options.run = own;
  });
  ASSERT_TRUE(shows("own"));
  ASSERT_TRUE(becomes([](const auto& now) { return now.ledger && now.ledger->rows.size() == 4; }));
  controller->execute(ui::state::ShowLessons{});
  go_to(view_of(shown));
  controller->execute(ui::state::CopySettings{shown.string()});
  controller->execute(ui::state::SetKnob{"bucket_cap_mb", "7"});
  jobs.record_in(started);
  controller->execute(ui::state::StartRun{});
  ASSERT_TRUE(shows("started")) << "as anywhere";
  go_to(view_of(other));
  controller->execute(ui::state::CopySettings{other.string()});
  ASSERT_TRUE(shows("other"));
  controller->execute(ui::state::ShowLessons{false});
  EXPECT_TRUE(shows("started"));
  EXPECT_EQ(controller->snapshot()->knobs.next.bucket_cap_mb, 7);
}

// Its ranks may take a while, or the job before it, to make room.
TEST_F(LessonsTest, ARunThatStartsOnceThePageWasTurnedComesWhenTheyAreLeft) {
  const auto first = write_run("first", 4, 10'000'000'000),
             second = write_run("second", 4, 11'000'000'000);
  open([&](ControllerOptions& options) {
    options.bundled_dir = examples;
    options.run = own;
  });
  ASSERT_TRUE(shows("own"));
  ASSERT_TRUE(becomes([](const auto& now) { return now.ledger && now.ledger->rows.size() == 5; }));
  jobs.record_in(first);
  controller->execute(ui::state::StartRun{});
  ASSERT_TRUE(shows("first"));
  jobs.started().at(0)->ends_when_stopped = false;
  controller->execute(ui::state::ShowLessons{});
  go_to(view_of(shown));
  jobs.record_in(second);
  controller->execute(ui::state::StartRun{true});
  go_to(view_of(other));
  ASSERT_TRUE(shows("other"));
  jobs.started().at(0)->end();
  ASSERT_TRUE(becomes([&](const auto& now) { return now.job.folder == second.string(); }));
  controller->execute(ui::state::SelectStep{2});
  EXPECT_TRUE(becomes([](const auto& now) {
    return now.run && now.run->figures.info.name == "other" && now.run->selected_step == 2;
  })) << "the page speaks of it";
  controller->execute(ui::state::ShowLessons{false});
  EXPECT_TRUE(shows("second"));
}

TEST_F(LessonsTest, WhatWasOnScreenMayBeDeletedMeanwhile) {
  write_run("older", 8, 1'000'000'000);
  open_learning();
  go_to(view_of(shown));
  ASSERT_TRUE(shows("shown"));
  controller->execute(ui::state::DeleteRuns{{own.string()}});
  controller->execute(ui::state::ShowLessons{false});
  EXPECT_TRUE(shows("shown"));
  EXPECT_FALSE(controller->snapshot()->notice_is_error) << controller->snapshot()->notice;
}

TEST_F(LessonsTest, WhatWasAskedForIsNotWantedOnceTheyAreLeft) {
  const auto lesson = folder.write("lessons/1.md", "# Lesson\n\n## One\n\nA page.\n");
  LessonSession session({{lesson}, runs, examples}, [] {});
  session.enter();
  session.leave();
  session.enter();
  session.look_for(view_of(shown));
  session.wait_until_idle();
  EXPECT_NE(session.shelf(), nullptr) << "also where they were left before it was read";
  EXPECT_TRUE(session.take_found());
  session.look_for(view_of(shown));
  session.leave();
  session.enter();
  session.wait_until_idle();
  EXPECT_FALSE(session.take_found());
}

TEST_F(LessonsTest, ARunMayBeNamedAsAFolder) {
  auto view = view_of(own);
  view.address.run += "/";
  view.lesson_file = (runs / "lesson.md").string();
  const auto found = find_view(view, {{}, runs, examples});
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.address.run, own.filename().string()) << "as the window knows it";
  EXPECT_EQ(found.runs, std::vector<std::string>{own.string()});
}

TEST(LessonPages, OneThatIsNotThereIsRefusedWithHowManyThereAre) {
  ui::state::LessonShelf shelf;
  shelf.lessons.resize(2);
  for (auto& lesson : shelf.lessons) lesson.pages.resize(3);
  EXPECT_TRUE(check_page(shelf, 1, 2));
  for (const auto& [lesson, page, words] :
       {std::tuple{2, 0, "2 lessons"}, std::tuple{-1, 0, "2 lessons"}, std::tuple{0, 3, "3 pages"},
        std::tuple{0, -1, "3 pages"}}) {
    const auto refused = check_page(shelf, lesson, page);
    ASSERT_FALSE(refused) << lesson << " " << page;
    EXPECT_EQ(refused.error().kind, trace::base::ErrorKind::kUsage);
    EXPECT_NE(refused.error().message.find(words), std::string::npos) << refused.error().message;
  }
}

}  // namespace
}  // namespace shardlens::app::session
