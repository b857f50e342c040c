// The timeline by keyboard, and what moves it from outside: hits, links, tables.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/ui/inspect/testing/sample_memory.h"
#include "tests/ui/inspect/testing/timeline_test.h"
#include "trace/timeline/values/straggler_figures.h"

namespace shardlens::ui::inspect {

namespace {

class TimelineKeysTest : public TimelineTest {
 protected:
  TimelineKeysTest() { show_steps(20, 22); }
};

TEST_F(TimelineKeysTest, ZoomPanAndFit) {
  const TimeWindow before = state().window;
  press(kit::Key::kW);
  EXPECT_LT(state().window.span_ns(), before.span_ns());
  press(kit::Key::kS);
  EXPECT_NEAR(state().window.span_ns(), before.span_ns(), 1);
  press(kit::Key::kD);
  EXPECT_GT(state().window.start_ns(), before.start_ns());
  press(kit::Key::kA);
  EXPECT_NEAR(static_cast<double>(state().window.start_ns() - before.start_ns()), 0, 2);
  press(kit::Key::kF);
  EXPECT_TRUE(state().window.is_fitted());
}

// What lay where the middle is of its step lies there of the next one.
TEST_F(TimelineKeysTest, ArrowsGoFromStepToStepAtTheSamePlace) {
  const auto behind = [&](int step) {
    return static_cast<double>(state().window.time_at(0.5) - run().step_start(0, step));
  };
  const double in_step = behind(21);
  press(kit::Key::kRight);
  EXPECT_NEAR(behind(22), in_step, 2);
  press(kit::Key::kLeft);
  press(kit::Key::kLeft);
  EXPECT_NEAR(behind(20), in_step, 2);
}

TEST_F(TimelineKeysTest, ArrowsGoFromEventToEventOfTheRow) {
  const int row = row_of(0, "Reduce");
  publish(place_of(row, 21, 4), false);
  inspect_.take_commands();
  press(kit::Key::kRight);
  auto picked = inspect_.take<state::PickEvent>();
  ASSERT_EQ(picked.size(), 1u);
  EXPECT_EQ(picked[0].event, place_of(row, 21, 5).ref);
  press(kit::Key::kLeft);
  press(kit::Key::kLeft);
  picked = inspect_.take<state::PickEvent>();
  ASSERT_EQ(picked.size(), 2u);
  EXPECT_EQ(picked[1].event, place_of(row, 21, 3).ref);
}

// Overlapped and exposed parts of a collective are one event.
TEST_F(TimelineKeysTest, ArrowsPassThePartsOfOneEvent) {
  const int row = row_of(0, "Reduce");
  publish(place_of(row, 21, 4), false);
  auto picture =
      std::make_shared<trace::timeline::TimelinePicture>(*inspect_.snapshot().inspect->picture);
  for (auto& part : picture->rows) {
    const auto own =
        std::ranges::find(part.pieces, place_of(row, 21, 4).ref, &trace::timeline::Piece::ref);
    if (part.window.row != row || own == part.pieces.end()) continue;
    trace::timeline::Piece rest = *own;
    own->end_ns = rest.start_ns = (own->start_ns + own->end_ns) / 2;
    part.pieces.insert(own + 1, rest);
  }
  inspect_.change().picture = picture;
  window().frames(snapshot(), 2);
  inspect_.take_commands();
  press(kit::Key::kRight);
  const auto picked = inspect_.take<state::PickEvent>();
  ASSERT_EQ(picked.size(), 1u);
  EXPECT_EQ(picked[0].event, place_of(row, 21, 5).ref);
}

// Where the picture ends, whoever has the whole run is asked for the neighbour.
TEST_F(TimelineKeysTest, ArrowsGoOnBeyondThePicture) {
  const int row = row_of(0, "Reduce");
  const trace::timeline::EventPlace last = place_of(row, 21, 15);
  show(run().step_start(0, 21), run().step_start(0, 21) + 1'000'000);
  publish(last, false);
  auto picture =
      std::make_shared<trace::timeline::TimelinePicture>(*inspect_.snapshot().inspect->picture);
  for (auto& part : picture->rows) {
    std::erase_if(part.pieces, [&](const trace::timeline::Piece& piece) {
      return piece.start_ns > last.start_ns;
    });
  }
  inspect_.change().picture = picture;
  window().frames(snapshot(), 2);
  inspect_.take_commands();
  press(kit::Key::kRight);
  const auto asked = inspect_.take<state::GoToNeighbour>();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].event, last.ref);
  EXPECT_EQ(asked[0].direction, 1);
  EXPECT_EQ(state().picked->place.ref, last.ref);
}

TEST_F(TimelineKeysTest, ArrowsKeepThePickedEventInSight) {
  const int row = row_of(0, "Reduce");
  const trace::timeline::EventPlace first = place_of(row, 21, 4);
  publish(first, false);
  state().window.show(first.start_ns - 1'000'000, first.end_ns + 1'000'000);
  inspect_.settle();
  for (std::size_t i = 5; i < 9; ++i) {
    press(kit::Key::kRight);
    ASSERT_EQ(state().picked->place.ref, place_of(row, 21, i).ref);
    EXPECT_GE(state().window.position(state().picked->place.start_ns), -0.01);
    EXPECT_LE(state().window.position(state().picked->place.start_ns), 1);
  }
}

TEST_F(TimelineKeysTest, ArrowsGoFromRowToRow) {
  publish(place_of(row_of(0, "All-gather"), 21, 20), false);
  inspect_.take_commands();
  press(kit::Key::kDown);
  EXPECT_EQ(state().selected_row, row_of(0, "Reduce"));
  ASSERT_TRUE(state().picked.has_value());
  EXPECT_EQ(state().picked->place.row, row_of(0, "Reduce"));
  press(kit::Key::kUp);
  EXPECT_EQ(state().selected_row, row_of(0, "All-gather"));
  EXPECT_EQ(inspect_.take<state::PickEvent>().size(), 2u);
}

TEST_F(TimelineKeysTest, EnterZoomsToTheSelection) {
  const trace::timeline::EventPlace place = place_of(row_of(0, "Reduce"), 21, 4);
  publish(place, false);
  press(kit::Key::kEnter);
  EXPECT_LT(state().window.position(place.start_ns), 0.15);
  EXPECT_GT(state().window.position(place.end_ns), 0.85);
  press(kit::Key::kEscape);
  EXPECT_FALSE(state().picked.has_value());
  state().selection = trace::base::Interval{run().step_start(0, 5), run().step_start(0, 7)};
  press(kit::Key::kEnter);
  EXPECT_GT(state().window.position(run().step_start(0, 5)), 0.02);
  EXPECT_LT(state().window.position(run().step_start(0, 7)), 0.98);
}

TEST_F(TimelineKeysTest, EscapeClearsOneThingAtATime) {
  publish(place_of(row_of(0, "Reduce"), 21, 4), false);
  state().selection = trace::base::Interval{run().step_start(0, 20), run().step_start(0, 21)};
  state().measured = trace::base::Interval{run().step_start(0, 20), run().step_start(0, 21)};
  press(kit::Key::kEscape);
  EXPECT_FALSE(state().measured.has_value());
  EXPECT_TRUE(state().picked.has_value());
  press(kit::Key::kEscape);
  EXPECT_FALSE(state().picked.has_value());
  EXPECT_TRUE(state().selection.has_value());
  press(kit::Key::kEscape);
  EXPECT_FALSE(state().selection.has_value());
}

TEST_F(TimelineKeysTest, EscapeClearsTheSearchBeforeAnythingElse) {
  publish(place_of(row_of(0, "Reduce"), 21, 4), false);
  auto hits = std::make_shared<trace::timeline::NameHits>();
  hits->pattern.text = "gemm";
  hits->count = 3;
  inspect_.change().hits = hits;
  inspect_.settle();
  press(kit::Key::kEscape);
  const auto cleared = inspect_.take<state::FindNames>();
  ASSERT_EQ(cleared.size(), 1u);
  EXPECT_EQ(cleared[0].pattern.text, "");
  EXPECT_TRUE(state().picked.has_value());
  press(kit::Key::kEscape);
  EXPECT_FALSE(state().picked.has_value());
}

TEST_F(TimelineKeysTest, RevealsAnEventInTheMiddleAndInSight) {
  state().folds.ranks[6] = false;
  state().filter.set(trace::timeline::RowKind::kCommunication, false);
  const int row = row_of(6, "Reduce");
  const trace::timeline::EventPlace place = place_of(row, 48, 9);
  publish(place, true);
  const std::int64_t middle = place.start_ns + (place.end_ns - place.start_ns) / 2;
  EXPECT_NEAR(state().window.position(middle), 0.5, 0.02);
  const ShownRow* shown = inspect_.window().view().inspect().timeline().layout().find(row);
  ASSERT_NE(shown, nullptr);
  const state::Rect plot = inspect_.probe().find("inspect/plot")->rect;
  EXPECT_GE(shown->y, state().scroll);
  EXPECT_LE(shown->y + shown->height, state().scroll + plot.h);
  // It is obeyed once: the user may move on.
  state().window.fit();
  inspect_.settle();
  EXPECT_TRUE(state().window.is_fitted());
}

TEST_F(TimelineKeysTest, RevealsWhatIsFarTooShortForTheView) {
  state().window.fit();
  inspect_.settle();
  const trace::timeline::EventPlace place = place_of(row_of(0, "Compute"), 30, 77);
  publish(place, true);
  const double width =
      static_cast<double>(place.end_ns - place.start_ns) / state().window.span_ns();
  EXPECT_GT(width, 1.0 / 300);
  EXPECT_LT(width, 1.0 / 3);
}

TEST_F(TimelineKeysTest, ForgetsWhatWasDroppedElsewhere) {
  publish(place_of(row_of(0, "Reduce"), 21, 4), false);
  ASSERT_TRUE(state().picked.has_value());
  inspect_.change().details = nullptr;
  inspect_.settle();
  EXPECT_FALSE(state().picked.has_value());
}

TEST_F(TimelineKeysTest, SetsVisitsAndRemovesBookmarks) {
  const auto all = [this] {
    inspect_.settle();
    return inspect_.snapshot().inspect->bookmarks;
  };
  const auto type = [this](const char* bracket) {
    inspect_.window().type(inspect_.snapshot(), bracket);
    inspect_.settle();
  };
  publish(place_of(row_of(0, "Reduce"), 21, 4), false);
  press(kit::Key::kB);
  ASSERT_EQ(all().size(), 1u);
  EXPECT_EQ(all()[0].time_ns, state().picked->place.start_ns);
  EXPECT_EQ(all()[0].name, "reduce-scatter blocks.11");
  press(kit::Key::kEscape);
  show_steps(40, 42);
  press(kit::Key::kB);  // in the middle: the mouse is elsewhere
  ASSERT_EQ(all().size(), 2u);
  const std::int64_t first = all()[0].time_ns, second = all()[1].time_ns;
  type("[");
  EXPECT_NEAR(state().window.position(first), 0.5, 0.01);
  type("]");
  EXPECT_NEAR(state().window.position(second), 0.5, 0.01);
  type("[");
  press(kit::Key{']'});
  EXPECT_NEAR(state().window.position(first), 0.5, 0.01) << "where many layouts have a letter";
  type("]");
  press(kit::Key::kB);
  EXPECT_EQ(all().size(), 1u);
  type("[");
  press(kit::Key::kB);
  EXPECT_TRUE(all().empty());
}

TEST_F(TimelineKeysTest, StayWithTheSearchFieldWhileItIsEdited) {
  inspect_.window().press(inspect_.snapshot(), kit::Key::kF, true);
  const TimeWindow before = state().window;
  inspect_.window().type(inspect_.snapshot(), "w");
  press(kit::Key::kW);
  EXPECT_EQ(state().window, before);
}

TEST_F(TimelineKeysTest, AlignsRanksByTheirStep) {
  state().aligned_by_step = true;
  inspect_.settle();
  EXPECT_TRUE(inspect_.probe().shows("By step"));
  const auto shifts =
      step_shifts(run().rows(), StepIndex(run().rows()), state().window.time_at(0.5));
  EXPECT_EQ(shifts[7], 21'000);
}

// Its clock runs a second late: where the rank's step is shown, its own times are not.
class AlignedKeysTest : public TimelineKeysTest {
 protected:
  static constexpr std::int64_t kLate = 1'000'000'000;

  AlignedKeysTest() {
    auto rows = std::make_shared<trace::timeline::TimelineRows>(run().rows());
    for (auto& step : rows->steps) {
      if (step.rank != 1) continue;
      step.start_ns += kLate;
      step.end_ns += kLate;
    }
    rows->end_ns += kLate;
    inspect_.change().rows = rows;
    state().aligned_by_step = true;
    inspect_.settle();
    late_ = place_of(row_of(1, "Reduce"), 21, 4);
    late_.start_ns += kLate;
    late_.end_ns += kLate;
    shown_ns_ = late_.start_ns - kLate - (run().step_start(1, 21) - run().step_start(0, 21));
  }

  void expect_late_fills_the_window() {
    const auto length_ns = static_cast<double>(late_.end_ns - late_.start_ns);
    EXPECT_GT(state().window.position(shown_ns_), 0);
    EXPECT_LT(state().window.position(shown_ns_), 0.5);
    EXPECT_LT(state().window.span_ns(), 3 * length_ns);
  }

  trace::timeline::EventPlace late_;
  std::int64_t shown_ns_ = 0;
};

TEST_F(AlignedKeysTest, EnterZoomsToWhereThePickedEventIsShown) {
  publish(late_, false);
  press(kit::Key::kEnter);
  EXPECT_GT(state().window.position(shown_ns_), 0);
  EXPECT_LT(state().window.position(shown_ns_), 0.5);
}

TEST_F(AlignedKeysTest, ABookmarkStandsWhereThePickedEventIsShown) {
  publish(late_, false);
  press(kit::Key::kB);
  ASSERT_EQ(snapshot().inspect->bookmarks.size(), 1u);
  EXPECT_EQ(snapshot().inspect->bookmarks[0].time_ns, shown_ns_);
}

TEST_F(AlignedKeysTest, ArrowsGoToTheEventThatIsShownAboveThePickedOne) {
  state().folds.ranks[1] = true;
  inspect_.settle();
  publish(late_, false);
  inspect_.take_commands();
  const std::int64_t middle = shown_ns_ + (late_.end_ns - late_.start_ns) / 2;
  while (state().selected_row != row_of(0, "Reduce")) press(kit::Key::kUp);
  ASSERT_TRUE(state().picked.has_value());
  ASSERT_EQ(state().picked->place.row, row_of(0, "Reduce"));
  EXPECT_NEAR(static_cast<double>(state().picked->place.start_ns - middle), 0, 60e6);
}

TEST_F(AlignedKeysTest, ARowOfAnAnswerIsShownWhereItsRankIsDrawn) {
  auto answer = std::make_shared<state::SqlAnswer>();
  answer->columns = {"rank", "start_ns", "end_ns"};
  answer->is_number = {true, true, true};
  answer->rows = {{"1", std::to_string(late_.start_ns), std::to_string(late_.end_ns)}};
  inspect_.change().sql.answer = answer;
  window().view().inspect().tabs().show(InspectTab::kSql);
  inspect_.settle();
  ASSERT_TRUE(window().click(snapshot(), "sql/row/0", 1));
  inspect_.settle();
  ASSERT_TRUE(window().click(snapshot(), "sql/menu/Show in the timeline"));
  expect_late_fills_the_window();
}

TEST_F(AlignedKeysTest, ACallIsShownWhereItsRanksAreDrawn) {
  auto figures = std::make_shared<trace::timeline::StragglerFigures>();
  trace::timeline::StragglerCall& call = figures->calls.emplace_back();
  call.first_start_ns = shown_ns_;
  call.latest_start_ns = late_.start_ns;
  call.end_ns = late_.end_ns;
  call.last_rank = 1;
  call.parts.resize(2);
  call.parts[0].start_ns = shown_ns_;
  call.parts[0].end_ns = shown_ns_ + late_.end_ns - late_.start_ns;
  call.parts[1].rank = 1;
  call.parts[1].start_ns = late_.start_ns;
  call.parts[1].end_ns = late_.end_ns;
  figures->matched = 1;
  auto range = std::make_shared<trace::timeline::RangeFigures>();
  range->stragglers = figures;
  inspect_.change().range = range;
  window().view().inspect().tabs().show(InspectTab::kStragglers);
  inspect_.settle();
  ASSERT_TRUE(window().click(snapshot(), "stragglers/row/0"));
  expect_late_fills_the_window();
}

TEST_F(AlignedKeysTest, AStepOfTheMemoryTabIsShownWhereItsRankIsDrawn) {
  auto memory = std::make_shared<trace::timeline::StepMemory>(*sample_memory());
  auto allocations = std::make_shared<trace::timeline::StepAllocations>(*memory->allocations);
  allocations->start_ns = late_.start_ns;
  allocations->end_ns = late_.end_ns;
  memory->allocations = allocations;
  memory->rank = 1;
  inspect_.change().memory = memory;
  window().view().inspect().tabs().show(InspectTab::kMemory);
  inspect_.settle();
  ASSERT_TRUE(window().click(snapshot(), "memory/step_in_timeline"));
  expect_late_fills_the_window();
}

TEST(TimelineReveal, UnfoldsTheLanesOfItsKind) {
  InspectWindow many(1600, 1000, {}, {.ranks = 1, .steps = 10, .extra_streams = 9});
  const int row = 10;
  ASSERT_EQ(many.run().rows().rows[row].kind, trace::timeline::RowKind::kKernels);
  EXPECT_EQ(many.window().view().inspect().timeline().layout().find(row), nullptr);
  const SampleEvent event = many.run().events(row, 4)[2];
  state::InspectView& view = many.change();
  view.reveal = {event.ref, event.start_ns, event.end_ns, row};
  view.reveal_number = 7;
  many.settle();
  EXPECT_NE(many.window().view().inspect().timeline().layout().find(row), nullptr);
}

}  // namespace

}  // namespace shardlens::ui::inspect
