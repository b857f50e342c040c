// The mouse over the timeline: zoom at the pointer, pan, select, measure, pick, fold.
#include <cmath>
#include <cstdint>

#include "tests/ui/inspect/testing/timeline_test.h"

namespace shardlens::ui::inspect {

namespace {

class TimelineMouseTest : public TimelineTest {
 protected:
  TimelineMouseTest() { show_steps(20, 22); }
};

TEST_F(TimelineMouseTest, AReplayShowsNothingThatIsStillToCome) {
  const int phases = row_of(0, "Phases");
  const std::int64_t start = run().step_start(0, 21), end = run().step_end(0, 21);
  const auto picked_at = [&](std::int64_t now) {
    replay_until(now);
    window().frames(snapshot(), 20);  // not a double-click
    window().click_at(snapshot(), x_of(start + (end - start) / 3), y_of(phases));
    inspect_.settle();
    return inspect_.take<state::PickEvent>().size();
  };
  EXPECT_EQ(picked_at(start), 0u);
  EXPECT_EQ(picked_at(end), 1u);
}

TEST_F(TimelineMouseTest, AReplayThatHasNotComeToWhatIsInSightSaysSo) {
  replay_until(run().step_start(0, 19));
  EXPECT_TRUE(inspect_.probe().shows("The replay has not come so far"));
  replay_until(run().step_end(0, 20));
  EXPECT_FALSE(inspect_.probe().shows("The replay has not come so far"));
}

TEST_F(TimelineMouseTest, ZoomsAtThePointerFromHoursToNanoseconds) {
  state().window.fit();
  inspect_.settle();
  const float x = std::floor(plot().x + plot().w * 0.62f), y = plot().y + 60;  // as ImGui does
  window().move_to(snapshot(), x, y);
  window().wheel(snapshot(), 3);
  const std::int64_t pointed = time_at(x);
  double before = 0;
  while (state().window.span_ns() != before) {
    before = state().window.span_ns();
    window().wheel(snapshot(), 1);
    inspect_.settle();
    ASSERT_NEAR(static_cast<double>(time_at(x) - pointed), 0, 1) << before;
  }
  EXPECT_LE(state().window.span_ns(), 50);
}

TEST_F(TimelineMouseTest, DraggingPansByAsMuchAsThePointerMoves) {
  const float x = plot().center_x(), y = plot().y + 40;
  const std::int64_t held = time_at(x);
  drag(x, y, x - 200, y);
  EXPECT_NEAR(x_of(held), x - 200, 1.5f);
  EXPECT_FALSE(state().selection.has_value());
}

TEST_F(TimelineMouseTest, ScrollsOverRowsWithShiftAndByDragging) {
  for (int rank = 0; rank < 8; ++rank) state().folds.ranks[rank] = true;
  inspect_.settle();
  window().move_to(snapshot(), plot().center_x(), plot().center_y());
  ImGui::GetIO().KeyShift = true;
  window().wheel(snapshot(), -2);
  ImGui::GetIO().KeyShift = false;
  const float scrolled = state().scroll;
  EXPECT_GT(scrolled, 50);
  drag(plot().center_x(), plot().center_y(), plot().center_x(), plot().center_y() - 100);
  EXPECT_NEAR(state().scroll, scrolled + 100, 1.5f);
  drag(plot().center_x(), plot().y + 20, plot().center_x(), plot().y + 320);
  drag(plot().center_x(), plot().y + 20, plot().center_x(), plot().y + 320);
  EXPECT_EQ(state().scroll, 0);
}

TEST_F(TimelineMouseTest, SelectsARangeOnTheAxis) {
  const state::Rect axis = inspect_.probe().find("inspect/axis")->rect;
  const float x0 = axis.x + 300, x1 = axis.x + 520;
  const std::int64_t start = time_at(x0), end = time_at(x1);
  drag(x0, axis.bottom() - 6, x1, axis.bottom() - 6);
  ASSERT_TRUE(state().selection.has_value());
  EXPECT_NEAR(static_cast<double>(state().selection->start_ns - start), 0, 2e6);
  EXPECT_NEAR(static_cast<double>(state().selection->end_ns - end), 0, 2e6);
  const auto sent = inspect_.take<state::SelectRange>();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].range.start_ns, state().selection->start_ns);
  EXPECT_EQ(sent[0].range.end_ns, state().selection->end_ns);
  EXPECT_TRUE(inspect_.probe().shows("on 8 ranks selected"));
  window().press(snapshot(), kit::Key::kEscape);
  EXPECT_FALSE(state().selection.has_value());
  const auto cleared = inspect_.take<state::SelectRange>();
  ASSERT_EQ(cleared.size(), 1u);
  EXPECT_EQ(cleared[0].range, trace::timeline::TimeRange{});
}

TEST_F(TimelineMouseTest, SelectsARangeWithShiftFromRightToLeft) {
  const float y = plot().y + 50;
  const std::int64_t left = time_at(plot().x + 200), right = time_at(plot().x + 400);
  ImGui::GetIO().KeyShift = true;
  drag(plot().x + 400, y, plot().x + 200, y);
  ImGui::GetIO().KeyShift = false;
  ASSERT_TRUE(state().selection.has_value());
  EXPECT_NEAR(static_cast<double>(state().selection->start_ns - left), 0, 2e6);
  EXPECT_NEAR(static_cast<double>(state().selection->end_ns - right), 0, 2e6);
}

// The band lies over rows that are moved to where the first rank's step is.
TEST_F(TimelineMouseTest, ASelectionOfAlignedRanksIsOfWhatItCoversOnEach) {
  state().aligned_by_step = true;
  inspect_.settle();
  inspect_.take_commands();
  const float y = plot().y + 50;
  ImGui::GetIO().KeyShift = true;
  drag(plot().x + 200, y, plot().x + 400, y);
  ImGui::GetIO().KeyShift = false;
  const auto sent = inspect_.take<state::SelectRange>();
  ASSERT_EQ(sent.size(), 1u);
  const auto own = sent[0].range.of_rank(7);
  EXPECT_EQ(own.start_ns - state().selection->start_ns, 21'000);
  EXPECT_EQ(own.end_ns - state().selection->end_ns, 21'000);
  state().aligned_by_step = false;
  inspect_.settle();
  const auto again = inspect_.take<state::SelectRange>();
  ASSERT_EQ(again.size(), 1u) << "the band covers something else then";
  EXPECT_EQ(again[0].range.of_rank(7).start_ns, state().selection->start_ns);
}

// As long as that of any rank, however far apart their clocks are.
TEST_F(TimelineMouseTest, AStepOfAlignedRanksIsSelectedWhereItIsShown) {
  TimelineBoard& timeline = window().view().inspect().timeline();
  for (const bool is_aligned : {true, false}) {
    state().aligned_by_step = is_aligned;
    timeline.select_step(21);
    inspect_.take_commands();
    inspect_.settle();
    const auto sent = inspect_.take<state::SelectRange>();
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].range.start_ns, run().step_start(0, 21));
    const std::int64_t others = is_aligned ? run().step_start(7, 21) : run().step_start(0, 21);
    EXPECT_EQ(sent[0].range.of_rank(7).start_ns, others);
    EXPECT_GE(sent[0].range.of_rank(7).end_ns, run().step_end(7, 21));
    const std::int64_t apart = run().step_start(7, 21) - run().step_start(0, 21);
    EXPECT_GT(apart, 0);
    EXPECT_EQ(state().selection->length() - (run().step_end(0, 21) - run().step_start(0, 21)),
              is_aligned ? 0 : apart);
  }
}

TEST_F(TimelineMouseTest, MeasuresFromBorderToBorder) {
  const int row = row_of(0, "Reduce");
  const auto events = run().events(row, 21);
  window().press(snapshot(), kit::Key::kM);
  ASSERT_TRUE(state().measuring);
  drag(x_of(events[2].start_ns) + 3, y_of(row), x_of(events[5].end_ns) - 4, y_of(row));
  ASSERT_TRUE(state().measured.has_value());
  EXPECT_EQ(state().measured->start_ns, events[2].start_ns);
  EXPECT_EQ(state().measured->end_ns, events[5].end_ns);
  EXPECT_TRUE(inspect_.take<state::SelectRange>().empty());
  window().press(snapshot(), kit::Key::kEscape);
  EXPECT_FALSE(state().measured.has_value());
  EXPECT_FALSE(state().measuring);
}

// Between rows a time has no row that tells how far it is moved.
TEST_F(TimelineMouseTest, MeasuresAlsoWhereNoRowIs) {
  ASSERT_TRUE(window().click(snapshot(), "inspect/mode/Steps aligned"));
  inspect_.settle();
  window().press(snapshot(), kit::Key::kM);
  ASSERT_TRUE(state().measuring);
  const std::int64_t length = run().step_end(0, 0) - run().step_start(0, 0);
  for (float y = plot().y + 2; y < plot().y + 60; y += 2) {
    drag(plot().x + 300, y, plot().x + 520, plot().y + 62 - (y - plot().y));
    ASSERT_TRUE(state().measured.has_value());
    EXPECT_GE(state().measured->start_ns, run().step_start(0, 0)) << y;
    EXPECT_LT(state().measured->length(), 4 * length) << y;
  }
}

TEST_F(TimelineMouseTest, ADoubleClickOnAnEventPicksNothingBeyondIt) {
  const int row = row_of(0, "Reduce");
  const SampleEvent event = run().events(row, 21)[4];
  const float x = (x_of(event.latest_start_ns) + x_of(event.end_ns)) / 2;
  window().click_at(snapshot(), x, y_of(row));
  inspect_.take_commands();
  window().click_at(snapshot(), x, y_of(row));
  EXPECT_GT(state().window.position(event.end_ns), 0.85) << "it was zoomed to";
  EXPECT_TRUE(inspect_.take<state::PickEvent>().empty());
}

TEST_F(TimelineMouseTest, PicksTheEventUnderThePointer) {
  const int row = row_of(0, "Reduce");
  const SampleEvent event = run().events(row, 21)[4];
  const float x = (x_of(event.latest_start_ns) + x_of(event.end_ns)) / 2;
  window().click_at(snapshot(), x, y_of(row));
  const auto picked = inspect_.take<state::PickEvent>();
  ASSERT_EQ(picked.size(), 1u);
  EXPECT_EQ(picked[0].event, event.ref);
  ASSERT_TRUE(state().picked.has_value());
  EXPECT_EQ(state().picked->name, event.name);
  EXPECT_EQ(state().picked->place.start_ns, event.start_ns);
  EXPECT_EQ(state().selected_row, row);
  // Beside every event: dropped.
  window().click_at(snapshot(), x_of(run().step_start(0, 21) + 3'000'000), y_of(row));
  EXPECT_EQ(inspect_.take<state::DropEvent>().size(), 1u);
  EXPECT_FALSE(state().picked.has_value());
}

TEST_F(TimelineMouseTest, ADragPicksNothing) {
  const int row = row_of(0, "Compute");
  const float x = x_of(run().step_start(0, 21) + 200'000'000);
  drag(x, y_of(row), x + 60, y_of(row));
  EXPECT_TRUE(inspect_.take<state::PickEvent>().empty());
}

TEST_F(TimelineMouseTest, TellsWhatItIsOver) {
  const int row = row_of(0, "Reduce");
  const SampleEvent event = run().events(row, 21)[4];
  window().move_to(snapshot(), (x_of(event.latest_start_ns) + x_of(event.end_ns)) / 2, y_of(row));
  window().frames(snapshot(), 2);
  for (const char* text :
       {"reduce-scatter blocks.11", "Duration", "Transferring", "In step 21", "Overlapped",
        "Waiting for the last rank", "Size ÷ transfer", "rank 0 · Reduce-scatter stream 24"}) {
    EXPECT_TRUE(inspect_.probe().shows(text)) << text;
  }
}

TEST_F(TimelineMouseTest, CountsWhatIsFolded) {
  state().window.fit();
  inspect_.settle();
  window().move_to(snapshot(), plot().center_x(), y_of(row_of(0, "Compute")) + 4);
  window().frames(snapshot(), 2);
  for (const char* text : {" events", "Busy", "Busiest part", "zoom in"}) {
    EXPECT_TRUE(inspect_.probe().shows(text)) << text;
  }
}

TEST_F(TimelineMouseTest, ADoubleClickShowsAStep) {
  const state::Rect axis = inspect_.probe().find("inspect/axis")->rect;
  const float x = x_of((run().step_start(0, 21) + run().step_end(0, 21)) / 2);
  window().click_at(snapshot(), x, axis.y + 6);
  window().click_at(snapshot(), x, axis.y + 6);
  EXPECT_EQ(state().window.start_ns(), run().step_start(0, 21));
  EXPECT_NEAR(state().window.span_ns(),
              static_cast<double>(run().step_end(0, 21) - run().step_start(0, 21)), 1);
}

TEST_F(TimelineMouseTest, FoldsRanksTheRunAndLevels) {
  ASSERT_TRUE(window().click(snapshot(), "inspect/Rank 0"));
  EXPECT_EQ(state().folds.ranks.at(0), false);
  EXPECT_EQ(inspect_.probe().find("inspect/row " + std::to_string(row_of(0, "Compute"))), nullptr);
  ASSERT_TRUE(window().click(snapshot(), "inspect/Rank 0"));
  EXPECT_EQ(state().folds.ranks.at(0), true);
  const std::string operators = "inspect/row " + std::to_string(row_of(0, "Operators"));
  ASSERT_TRUE(window().click(snapshot(), operators));
  EXPECT_TRUE(state().folds.levels.contains(row_of(0, "Operators")));
  ASSERT_TRUE(window().click(snapshot(), "inspect/run"));
  EXPECT_TRUE(state().folds.run);
  window().frames(snapshot(), 2);
  EXPECT_EQ(inspect_.probe().find("inspect/Rank 0"), nullptr);
}

}  // namespace

}  // namespace shardlens::ui::inspect
