// Search, modes, kinds of rows, bookmarks.
#include "ui/inspect/toolbar/toolbar.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/ui/inspect/testing/inspect_window.h"

namespace shardlens::ui::inspect {

namespace {

class ToolbarTest : public ::testing::Test {
 protected:
  const state::Snapshot& snapshot() { return inspect_.snapshot(); }
  HeadlessWindow& window() { return inspect_.window(); }
  void answer(std::string text, std::int64_t count, std::string problem = "") {
    auto hits = std::make_shared<trace::timeline::NameHits>();
    hits->pattern.text = std::move(text);
    hits->count = count;
    hits->is_complete = true;
    hits->problem = std::move(problem);
    if (count > 0) {
      hits->names = {
          {"ncclDevKernel_ReduceScatter", trace::timeline::EventTableKind::kKernel, 300, 9'000'000},
          {"ncclDevKernel_AllGather", trace::timeline::EventTableKind::kKernel, count - 300,
           5'000}};
    }
    inspect_.change().hits = hits;
    window().frames(snapshot(), 3);
  }
  void search(std::string_view text) {
    window().press(snapshot(), kit::Key::kF, true);
    window().type(snapshot(), text);
    window().frames(snapshot(), 2);
  }

  InspectWindow inspect_{1600, 1000, {}, {.steps = 20}};
};

TEST_F(ToolbarTest, SearchesWhileTyping) {
  search("nccl");
  const auto sent = inspect_.take<state::FindNames>();
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent.back().pattern.text, "nccl");
  EXPECT_FALSE(sent.back().pattern.is_plain);
  answer("nccl", 312);
  EXPECT_TRUE(inspect_.probe().shows("312 hits"));
  EXPECT_TRUE(inspect_.probe().shows("ncclDevKernel_ReduceScatter"));
  EXPECT_TRUE(inspect_.probe().shows("300 × · 9.00 ms"));
}

TEST_F(ToolbarTest, ACrossClearsTheSearch) {
  EXPECT_EQ(inspect_.probe().find("inspect/search/clear"), nullptr);
  answer("gemm", 312);
  inspect_.take_commands();
  ASSERT_TRUE(window().click(snapshot(), "inspect/search/clear"));
  const auto cleared = inspect_.take<state::FindNames>();
  ASSERT_EQ(cleared.size(), 1u);
  EXPECT_EQ(cleared[0].pattern.text, "");
}

TEST_F(ToolbarTest, ListsEveryEventOfANameThatTheDetailsAskFor) {
  auto details = std::make_shared<trace::timeline::EventDetails>();
  details->title = details->name = "gemm (tn)";
  details->place.ref = {trace::timeline::EventTableKind::kKernel, 0, 1, 1};
  inspect_.change().details = details;
  inspect_.settle();
  ASSERT_TRUE(window().click(snapshot(), "details/All instances"));
  const auto sent = inspect_.take<state::FindNames>();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].pattern.text, "gemm (tn)");
  EXPECT_TRUE(sent[0].pattern.is_plain);
  auto hits = std::make_shared<trace::timeline::NameHits>();
  hits->pattern = sent[0].pattern;
  hits->names = {{"gemm (tn)", trace::timeline::EventTableKind::kKernel, 700, 9'000'000}};
  hits->count = 700;
  hits->is_complete = true;
  const std::int64_t start = inspect_.run().rows().start_ns;
  for (int i = 0; i < 500; ++i) {
    const trace::timeline::EventRef ref{trace::timeline::EventTableKind::kKernel, i % 4, i, 0};
    hits->instances.push_back(
        {{ref, start + i * 1'000'000, start + i * 1'000'000 + 42'000}, i / 4});
  }
  inspect_.change().hits = hits;
  window().frames(snapshot(), 3);
  for (const char* text : {"700 × · 9.00 ms", "The first 500 of 700", "rank 3", "step 2"}) {
    EXPECT_TRUE(inspect_.probe().shows(text)) << text;
  }
  inspect_.take_commands();
  ASSERT_TRUE(window().click(snapshot(), "inspect/instance 6"));
  const auto gone = inspect_.take<state::GoToEvent>();
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].place.ref, hits->instances[6].place.ref);
  // The list stays, for the next one.
  ASSERT_TRUE(window().click(snapshot(), "inspect/instance 7"));
  // All of them by keyboard, from the field on.
  window().move_to(snapshot(), 5, 900);
  search("");
  window().press(snapshot(), kit::Key::kTab);
  window().press(snapshot(), kit::Key::kTab);
  for (int i = 0; i < 40; ++i) {
    ASSERT_EQ(window().view().focus().name(), "inspect/instance " + std::to_string(i));
    window().press(snapshot(), kit::Key::kDown);
  }
  inspect_.take_commands();
  window().press(snapshot(), kit::Key::kEnter);
  EXPECT_EQ(inspect_.take<state::GoToEvent>().size(), 1u);
}

TEST_F(ToolbarTest, GoesFromHitToHit) {
  search("nccl");
  answer("nccl", 312);
  inspect_.take_commands();
  window().press(snapshot(), kit::Key::kEnter);
  auto hits = inspect_.take<state::GoToHit>();
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_EQ(hits[0].direction, 1);
  EXPECT_EQ(hits[0].from_ns, inspect_.state().window.time_at(0.5));
  ImGui::GetIO().KeyShift = true;
  window().press(snapshot(), kit::Key::kEnter);
  ImGui::GetIO().KeyShift = false;
  hits = inspect_.take<state::GoToHit>();
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_EQ(hits[0].direction, -1);
  ASSERT_TRUE(window().click(snapshot(), "inspect/hit behind"));
  EXPECT_EQ(inspect_.take<state::GoToHit>().size(), 1u);
}

TEST_F(ToolbarTest, SaysThatThereAreMoreNamesThanItListsOrMayBeMore) {
  search("nccl");
  auto hits = std::make_shared<trace::timeline::NameHits>();
  hits->pattern.text = "nccl";
  window().frames(snapshot(), 3);
  inspect_.change().hits = hits;
  window().frames(snapshot(), 3);
  EXPECT_TRUE(inspect_.probe().shows("0+ hits"));
  EXPECT_TRUE(inspect_.probe().shows("No name matches so far"));
  auto many = std::make_shared<trace::timeline::NameHits>(*hits);
  for (int i = 0; i < 15; ++i) {
    many->names.push_back({"ncclDevKernel_" + std::to_string(i),
                           trace::timeline::EventTableKind::kKernel, 20, 1'000});
  }
  many->count = 300;
  many->is_complete = true;
  inspect_.change().hits = many;
  window().frames(snapshot(), 3);
  EXPECT_TRUE(inspect_.probe().shows("ncclDevKernel_11"));
  EXPECT_TRUE(inspect_.probe().shows("and 3 more names"));
}

TEST_F(ToolbarTest, ANameOfTheListIsSearchedAsItIs) {
  search("nccl");
  answer("nccl", 312);
  inspect_.take_commands();
  ASSERT_TRUE(window().click(snapshot(), "inspect/found 1"));
  const auto commands = inspect_.take_commands();
  const auto* find = HeadlessWindow::find<state::FindNames>(commands);
  ASSERT_NE(find, nullptr);
  EXPECT_EQ(find->pattern.text, "ncclDevKernel_AllGather");
  EXPECT_TRUE(find->pattern.is_plain);
  EXPECT_NE(HeadlessWindow::find<state::GoToHit>(commands), nullptr);
}

TEST_F(ToolbarTest, ShowsWhatIsWrongWithAnExpression) {
  search("nccl(");
  answer("nccl(", 0, "A bracket is not closed: add “)” or write “\\(”");
  EXPECT_TRUE(inspect_.probe().shows("not valid"));
  EXPECT_TRUE(inspect_.probe().shows("A bracket is not closed"));
}

TEST_F(ToolbarTest, EscapeEndsTheSearch) {
  search("nccl");
  answer("nccl", 312);
  inspect_.take_commands();
  window().press(snapshot(), kit::Key::kEscape);
  const auto cleared = inspect_.take<state::FindNames>();
  ASSERT_EQ(cleared.size(), 1u);
  EXPECT_EQ(cleared[0].pattern.text, "");
}

TEST_F(ToolbarTest, SaysWhatATableSearchedFor) {
  answer("flash_fwd_kernel", 400);
  EXPECT_TRUE(inspect_.probe().shows("400 hits"));
  inspect_.change().hits = nullptr;
  window().frames(snapshot(), 2);
  EXPECT_FALSE(inspect_.probe().shows("hits"));
}

TEST_F(ToolbarTest, LateAnswersDoNotChangeWhatIsTyped) {
  search("nc");
  search("cl");
  answer("nc", 7);
  EXPECT_FALSE(inspect_.probe().shows("7 hits"));
}

TEST_F(ToolbarTest, ChangesModeAndAlignment) {
  ASSERT_TRUE(window().click(snapshot(), "inspect/mode/Steps aligned"));
  EXPECT_EQ(inspect_.state().mode, TimelineState::Mode::kSteps);
  ASSERT_TRUE(window().click(snapshot(), "inspect/rank behind"));
  EXPECT_EQ(inspect_.state().step_rank, 1);
  EXPECT_TRUE(inspect_.probe().shows("Rank 1"));
  ASSERT_TRUE(window().click(snapshot(), "inspect/mode/Time"));
  ASSERT_TRUE(window().click(snapshot(), "inspect/align/By step"));
  EXPECT_TRUE(inspect_.state().aligned_by_step);
}

// As another program's, of which it is not known where they began.
TEST_F(ToolbarTest, ARunWithoutStepsHasNoneToAlign) {
  ASSERT_TRUE(window().click(snapshot(), "inspect/mode/Steps aligned"));
  auto rows = std::make_shared<trace::timeline::TimelineRows>(inspect_.run().rows());
  rows->steps.clear();
  inspect_.change().rows = rows;
  inspect_.settle();
  EXPECT_EQ(inspect_.probe().find("inspect/mode/Steps aligned"), nullptr);
  EXPECT_EQ(inspect_.probe().find("inspect/align/By step"), nullptr);
  EXPECT_FALSE(inspect_.probe().shows("Rank -1"));
  EXPECT_TRUE(inspect_.probe().shows("Compute stream 7"));
}

TEST_F(ToolbarTest, HidesAndShowsKindsOfRows) {
  ASSERT_TRUE(window().click(snapshot(), "inspect/kind Kernels"));
  EXPECT_FALSE(inspect_.state().filter.shows(trace::timeline::RowKind::kKernels));
  window().frames(snapshot(), 2);
  EXPECT_FALSE(inspect_.probe().shows("Compute stream 7"));
  ASSERT_TRUE(window().click(snapshot(), "inspect/kind Kernels"));
  window().frames(snapshot(), 2);
  EXPECT_TRUE(inspect_.probe().shows("Compute stream 7"));
}

TEST_F(ToolbarTest, PutsKindsIntoAMenuWhereTheyDoNotFit) {
  window().resize(1280, 800);
  inspect_.settle();
  ASSERT_TRUE(window().click(snapshot(), "inspect/rows"));
  ASSERT_TRUE(window().click(snapshot(), "inspect/kind Counters"));
  EXPECT_TRUE(inspect_.state().filter.shows(trace::timeline::RowKind::kCounter));
}

TEST_F(ToolbarTest, EscapeClosesAMenuAndNothingElse) {
  window().resize(1280, 800);
  inspect_.state().measuring = true;
  inspect_.settle();
  ASSERT_TRUE(window().click(snapshot(), "inspect/rows"));
  ASSERT_NE(inspect_.probe().find("inspect/kind Counters"), nullptr);
  window().press(snapshot(), kit::Key::kEscape);
  EXPECT_EQ(inspect_.probe().find("inspect/kind Counters"), nullptr);
  EXPECT_TRUE(inspect_.state().measuring);
  window().press(snapshot(), kit::Key::kEscape);
  EXPECT_FALSE(inspect_.state().measuring);
}

// Dear ImGui would undo the typing in the text that is there now, and write behind its end.
TEST_F(ToolbarTest, WhatWasTypedIsNotUndoneInAnotherText) {
  search("all_gather");
  ASSERT_TRUE(window().click(snapshot(), "inspect/search/clear"));
  window().frames(snapshot(), 2);
  search("");
  for (int i = 0; i < 12; ++i) window().press(snapshot(), kit::Key::kZ, true);
  window().type(snapshot(), "sum");
  window().frames(snapshot(), 2);
  const auto patterns = inspect_.take<state::FindNames>();
  ASSERT_FALSE(patterns.empty());
  EXPECT_EQ(patterns.back().pattern.text, "sum");
}

class BookmarkMenuTest : public ToolbarTest {
 protected:
  BookmarkMenuTest() {
    inspect_.change().bookmarks = {{at_, "slow gather"}, {at_ + 5'000'000'000, ""}};
    inspect_.state().window.show(at_ - 8'000'000'000, at_ - 7'000'000'000);
    inspect_.settle();
  }
  const trace::model::Bookmarks& bookmarks() { return inspect_.snapshot().inspect->bookmarks; }
  void open() {
    ASSERT_TRUE(window().click(snapshot(), "inspect/bookmarks"));
    inspect_.settle();
  }
  void rename_first(std::string_view text) {
    open();
    ASSERT_TRUE(window().click(snapshot(), "inspect/bookmark rename 0"));
    inspect_.settle();
    window().press(snapshot(), kit::Key::kA, true);
    window().type(snapshot(), text);
  }

  std::int64_t at_ = inspect_.run().step_start(0, 12);
};

TEST_F(BookmarkMenuTest, GoesToThemAndTakesThemAway) {
  ASSERT_TRUE(inspect_.probe().shows("Bookmarks 2"));
  open();
  EXPECT_TRUE(inspect_.probe().shows("slow gather"));
  ASSERT_TRUE(window().click(snapshot(), "inspect/bookmark 0"));
  EXPECT_NEAR(inspect_.state().window.position(at_), 0.5, 0.01);
  open();
  ASSERT_TRUE(window().click(snapshot(), "inspect/bookmark x 1"));
  inspect_.settle();
  EXPECT_EQ(bookmarks(), (trace::model::Bookmarks{{at_, "slow gather"}}));
}

TEST_F(BookmarkMenuTest, RenamesOneOnEnter) {
  rename_first("the late rank");
  window().press(snapshot(), kit::Key::kEnter);
  inspect_.settle();
  ASSERT_EQ(bookmarks().size(), 2u);
  EXPECT_EQ(bookmarks()[0].name, "the late rank");
  EXPECT_TRUE(inspect_.probe().shows("the late rank"));
}

TEST_F(BookmarkMenuTest, KeepsTheNewNameWhenTheListIsLeftAndTheOldOneOnEscape) {
  rename_first("the late rank");
  window().click_at(snapshot(), 5, 900);
  inspect_.settle();
  EXPECT_EQ(bookmarks()[0].name, "the late rank");
  rename_first("never mind");
  window().press(snapshot(), kit::Key::kEscape);
  inspect_.settle();
  EXPECT_EQ(bookmarks()[0].name, "the late rank");
  EXPECT_NE(inspect_.probe().find("inspect/bookmark 0"), nullptr) << "the list stays";
  window().press(snapshot(), kit::Key::kEscape);
  EXPECT_EQ(inspect_.probe().find("inspect/bookmark 0"), nullptr);
}

TEST(Bookmarks, AreSetAndTakenAwayByTheSameKey) {
  trace::model::Bookmarks bookmarks;
  const auto toggle = [&](std::int64_t time_ns, const std::string& name) {
    state::Commands commands;
    toggle_bookmark(bookmarks, {time_ns, name}, 10, commands);
    for (const auto& command : commands) {
      trace::model::change_bookmarks(bookmarks, std::get<state::ChangeBookmark>(command).change);
    }
  };
  toggle(500, "b");
  toggle(100, "a");
  ASSERT_EQ(bookmarks.size(), 2u);
  EXPECT_EQ(neighbour_bookmark(bookmarks, 100, 1)->time_ns, 500);
  EXPECT_EQ(neighbour_bookmark(bookmarks, 500, -1)->time_ns, 100);
  EXPECT_EQ(neighbour_bookmark(bookmarks, 100, -1), nullptr);
  toggle(105, "");
  EXPECT_EQ(bookmarks, (trace::model::Bookmarks{{500, "b"}}));
}

TEST(SelectionText, SaysLengthAndRanks) {
  TimelineState state;
  EXPECT_EQ(selection_text(state, 8), "");
  state.selection = trace::base::Interval{1'000, 126'401'000};
  EXPECT_EQ(selection_text(state, 8), "126.4 ms on 8 ranks selected");
  EXPECT_EQ(selection_text(state, 1), "126.4 ms selected");
}

}  // namespace

}  // namespace shardlens::ui::inspect
