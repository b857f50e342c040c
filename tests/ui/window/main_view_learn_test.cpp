// Learn in the window: the column follows clicks and keys, and the view beside it the page.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/ui/testing/headless_window.h"
#include "tests/ui/testing/probe_texts.h"
#include "tests/ui/testing/sample_lessons.h"
#include "tests/ui/testing/sample_snapshot.h"
#include "tests/ui/window/commanded.h"
#include "ui/state/view_preferences.h"

namespace shardlens::ui::window {
namespace {

state::ViewPreferences learning() {
  state::ViewPreferences preferences;
  preferences.workspace = state::kLearnWorkspace;
  return preferences;
}

struct LearnTest : testing::Test {
  HeadlessWindow window{1600, 1000, learning()};
  state::Snapshot snapshot = sample_snapshot({.live = false});

  LearnTest() {
    snapshot.lessons = sample_lessons(snapshot.run->figures.info.name.c_str());
    window.frames(snapshot, 3);
  }
  // As the session answers what the page asked for.
  void answer(const state::GoToView& asked) {
    snapshot.gone_to = std::make_shared<const state::ViewAddress>(asked.address);
    ++snapshot.version;
    window.frames(snapshot, 3);
  }
};

TEST_F(LearnTest, IsEnteredAndLeftByKeyAndByTab) {
  const auto shown_or_left = [&] {
    const auto asked = window.take<state::ShowLessons>();
    return asked ? std::optional(asked->is_shown) : std::nullopt;
  };
  EXPECT_EQ(shown_or_left(), true);
  window.press(snapshot, kit::Key::kOne, true);
  EXPECT_EQ(shown_or_left(), false);
  EXPECT_FALSE(window.probe().shows("Buckets, and what overlap is"));
  window.press(snapshot, kit::Key::kFour, true);
  EXPECT_EQ(shown_or_left(), true);
  EXPECT_TRUE(window.probe().shows("Buckets, and what overlap is"));
  ASSERT_TRUE(window.click(snapshot, "top/compare"));
  EXPECT_EQ(shown_or_left(), false);
  EXPECT_TRUE(window.view().compares());
  ASSERT_TRUE(window.click(snapshot, "top/learn"));
  EXPECT_EQ(shown_or_left(), true);
  EXPECT_TRUE(window.view().learns());
  EXPECT_TRUE(window.view().compares()) << "what was on screen, until a page shows something else";
}

TEST_F(LearnTest, APageAsksForItsViewOnceAndShowsItOnceItHasCome) {
  window.take_commands();
  ASSERT_TRUE(window.click(snapshot, "lesson/open 1"));
  window.frames(snapshot, 5);
  const state::Commands commands = window.take_commands();
  int asked = 0;
  for (const auto& each : commands) asked += std::holds_alternative<state::GoToView>(each) ? 1 : 0;
  EXPECT_EQ(asked, 1);
  window.view().open_lesson(0, 2);
  window.frames(snapshot, 2);
  const auto played = window.take<state::GoToView>();
  ASSERT_TRUE(played);
  EXPECT_EQ(played->replay_speed, 0.05);
  EXPECT_FALSE(window.view().inspects()) << "its run may not be there";
  answer(*played);
  EXPECT_TRUE(window.view().inspects());
  EXPECT_TRUE(window.view().learns());
  EXPECT_TRUE(window.probe().shows("Bucket by bucket"));
  EXPECT_FALSE(window.take<state::GoToView>());
  window.press(snapshot, kit::Key::kOne, true);
  EXPECT_FALSE(window.view().inspects());
  window.press(snapshot, kit::Key::kFour, true);
  EXPECT_TRUE(window.take<state::GoToView>()) << "what was shown meanwhile is something else";
  EXPECT_TRUE(window.probe().shows("Bucket by bucket"));
}

TEST_F(LearnTest, APageInTuneTakesItsRunsSettings) {
  ASSERT_TRUE(window.click(snapshot, "lesson/open 1"));
  auto asked = window.take<state::GoToView>();
  ASSERT_TRUE(asked);
  answer(*asked);
  const auto taken = window.take<state::CopySettings>();
  ASSERT_TRUE(taken) << "nothing is predicted with what was set before";
  EXPECT_EQ(taken->folder, snapshot.run->figures.info.folder);
  asked->address.settings = {{"bucket_cap_mb", "60"}};
  answer(*asked);
  const state::Commands commands = window.take_commands();
  EXPECT_NE(HeadlessWindow::find<state::CopySettings>(commands), nullptr);
  const auto* set = HeadlessWindow::find<state::SetKnob>(commands);
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set->text, "60");
}

TEST_F(LearnTest, PageKeysGoOnAndBackAndStandInTheHelp) {
  window.press(snapshot, kit::Key::kPageDown);
  EXPECT_TRUE(window.probe().shows("Where a bucket begins"));
  EXPECT_TRUE(window.probe().shows("1 / 3"));
  window.press(snapshot, kit::Key::kPageDown);
  EXPECT_TRUE(window.probe().shows("What is exposed"));
  window.press(snapshot, kit::Key::kPageUp);
  EXPECT_TRUE(window.probe().shows("Where a bucket begins"));
  window.type(snapshot, "?");
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.probe().shows("Next and previous page of the lesson"));
  EXPECT_TRUE(window.probe().shows("Previous and next step")) << "of Tune, which stands beside";
  window.press(snapshot, kit::Key::kPageDown);
  window.type(snapshot, "?");
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.probe().shows("Where a bucket begins")) << "help has the keys";
}

TEST_F(LearnTest, ButtonsTurnPagesAndUnfoldTheAnswer) {
  ASSERT_TRUE(window.click(snapshot, "lesson/open 1"));
  EXPECT_TRUE(window.probe().shows("bucket_cap_mb"));
  EXPECT_FALSE(window.probe().shows("It would wait"));
  ASSERT_TRUE(window.click(snapshot, "lesson/answer"));
  EXPECT_TRUE(window.probe().shows("It would wait"));
  window.take_commands();
  ASSERT_TRUE(window.click(snapshot, "lesson/copy 2"));
  const auto copied = window.take<state::CopyText>();
  ASSERT_TRUE(copied);
  EXPECT_EQ(copied->text, "./run --set bucket_cap_mb=4 --ranks 2 --steps 30");
  ASSERT_TRUE(window.click(snapshot, "lesson/again"));
  EXPECT_TRUE(window.take<state::GoToView>());
  ASSERT_TRUE(window.click(snapshot, "lesson/next"));
  EXPECT_TRUE(window.probe().shows("What is exposed"));
  EXPECT_FALSE(window.take<state::GoToView>());
  ASSERT_TRUE(window.click(snapshot, "lesson/back"));
  EXPECT_FALSE(window.probe().shows("It would wait")) << "folded again";
  ASSERT_TRUE(window.click(snapshot, "lesson/page 3"));
  EXPECT_TRUE(window.probe().shows("Next lesson ›"));
  ASSERT_TRUE(window.click(snapshot, "lesson/next"));
  EXPECT_TRUE(window.probe().shows("All lessons"));
  ASSERT_TRUE(window.click(snapshot, "lesson/next"));
  EXPECT_TRUE(window.probe().shows("3 pages, read"));
  EXPECT_TRUE(window.probe().shows("1 page, read"));
}

TEST_F(LearnTest, SettingsAreFoldedUntilTheyAreAskedFor) {
  EXPECT_EQ(window.probe().find("knob/model"), nullptr);
  window.press(snapshot, kit::Key::kB, true);
  window.frames(snapshot, 2);
  EXPECT_NE(window.probe().find("knob/model"), nullptr);
  window.press(snapshot, kit::Key::kB, true);
  window.press(snapshot, kit::Key::kOne, true);
  window.frames(snapshot, 2);
  EXPECT_NE(window.probe().find("knob/model"), nullptr) << "Tune has folds of its own";
  EXPECT_EQ(window.view().preferences().folds, state::PanelFolds{});
}

TEST_F(LearnTest, WhatIsAskedForBesideALessonLeavesItOpen) {
  commanded(window, snapshot, "Show: Sweeps");
  EXPECT_TRUE(window.view().compares());
  EXPECT_TRUE(window.view().learns());
  commanded(window, snapshot, "Batch per rank");
  EXPECT_TRUE(window.view().learns());
  EXPECT_FALSE(window.view().compares());
  EXPECT_NE(window.probe().find("knob/batch_per_rank"), nullptr);
}

TEST_F(LearnTest, WhichTabOfCompareWasShownComesBackBehindThem) {
  window.press(snapshot, kit::Key::kThree, true);
  window.frames(snapshot, 2);
  ASSERT_TRUE(window.click(snapshot, "compare/Sweep"));
  ASSERT_FALSE(window.view().compare().shows_runs());
  window.press(snapshot, kit::Key::kFour, true);
  state::GoToView page;
  page.address.workspace = state::kCompareWorkspace;
  answer(page);
  EXPECT_TRUE(window.view().compare().shows_runs());
  window.press(snapshot, kit::Key::kThree, true);
  EXPECT_TRUE(window.view().compares());
  EXPECT_FALSE(window.view().compare().shows_runs());
}

TEST_F(LearnTest, SaysWhyThereIsNothingToRead) {
  snapshot.lessons = nullptr;
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.probe().shows("Reading the lessons…"));
  state::LessonShelf shelf;
  shelf.problems = {"buckets.md:12: a page shows one view"};
  snapshot.lessons = std::make_shared<const state::LessonShelf>(shelf);
  window.frames(snapshot, 2);
  EXPECT_TRUE(window.probe().shows("There are no lessons here"));
  EXPECT_TRUE(window.probe().shows("buckets.md:12:"));
}

// In the column nothing is cut either.
TEST(Learn, TextsLieApartAndWholeInEveryWindow) {
  for (const auto& [width, height] : {std::pair{1280, 800}, {1600, 1000}}) {
    for (const float scale : {1.0f, 1.5f}) {
      for (const char* beside :
           {state::kTuneWorkspace, state::kInspectWorkspace, state::kCompareWorkspace}) {
        for (const int page : {-1, 0, 1}) {
          state::ViewPreferences preferences = learning();
          preferences.scale = scale;
          HeadlessWindow window(width, height, preferences);
          state::Snapshot snapshot = page == 1 ? replay_snapshot() : sample_snapshot();
          snapshot.lessons = sample_lessons();
          window.view().lessons().shown() = beside;
          if (page >= 0) window.view().open_lesson(0, page);
          window.view().lessons().reader().show_answer(true);
          window.frames(snapshot, 4);
          EXPECT_EQ(overlapping_texts_of(window.probe()), std::vector<std::string>{})
              << width << " x " << height << ", scale " << scale << ", " << beside << ", page "
              << page;
          EXPECT_TRUE(window.probe().shows(page < 0 ? "Lessons" : "Buckets, and what"));
          const float column = static_cast<float>(width) / 3;
          for (const auto& text : window.probe().texts) {
            if (text.rect.y < 56 * scale || text.rect.right() > column) continue;
            EXPECT_FALSE(text.text.ends_with("…")) << text.text;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace shardlens::ui::window
