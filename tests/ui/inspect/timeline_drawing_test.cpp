// What is drawn of the rows: against the events themselves, never more than pixels, and only what
// can be seen is asked for.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>

#include "tests/ui/inspect/testing/timeline_test.h"

namespace shardlens::ui::inspect {

namespace {

class TimelineDrawingTest : public TimelineTest {
 protected:
  static std::size_t quads() {
    const ImDrawData& data = *ImGui::GetDrawData();
    return static_cast<std::size_t>(data.TotalIdxCount) / 6;
  }
};

// Every pixel column of a row of collectives, against the events that it covers.
TEST_F(TimelineDrawingTest, PaintsEveryEventWhereItIs) {
  const int row = row_of(0, "All-gather");
  show(run().step_start(0, 21), run().step_end(0, 21));
  const ShownRow* shown = layout().find(row);
  ASSERT_NE(shown, nullptr);
  const state::Rect area = plot();
  const int y = static_cast<int>(area.y + shown->y - state().scroll + shown->height - 3);
  const auto pixels = inspect_.window().pixels();
  const auto events = run().events(row, 21);
  const state::Palette& p = state::palette(state::ThemeKind::kDark);
  int checked = 0, painted = 0;
  for (int x = static_cast<int>(area.x) + 1; x < static_cast<int>(area.right()) - 1; ++x) {
    // Clear of any border by more than a pixel: there is no doubt what it must be.
    const auto time = [&](float at) {
      return state().window.time_at(static_cast<double>(at - area.x) / static_cast<double>(area.w));
    };
    const std::int64_t left = time(static_cast<float>(x) - 2),
                       right = time(static_cast<float>(x) + 3);
    const SampleEvent* inside = nullptr;
    bool touches = false;
    for (const SampleEvent& event : events) {
      if (event.start_ns <= left && right <= event.end_ns) inside = &event;
      touches |= event.start_ns < right && event.end_ns > left;
    }
    if (touches && inside == nullptr) continue;
    const std::uint8_t* pixel =
        &pixels[static_cast<std::size_t>(4 * (y * inspect_.window().width() + x))];
    const state::Rgb seen{pixel[0], pixel[1], pixel[2]};
    ++checked;
    if (inside == nullptr) {
      EXPECT_LT(seen.g, 70) << x;  // the panel, its grid, a step's border
      continue;
    }
    ++painted;
    EXPECT_EQ(seen, state::time_color(p, inside->piece_class)) << x;
  }
  EXPECT_GT(checked, 500);
  EXPECT_GT(painted, 150);
}

TEST_F(TimelineDrawingTest, HasNeverMoreRectanglesThanPixels) {
  for (int rank = 0; rank < 8; ++rank) state().folds.ranks[rank] = true;
  for (const double zoom : {1.0, 8.0, 60.0, 3'000.0, 1e6}) {
    state().window.fit();
    inspect_.settle();
    state().window.zoom(0.4, zoom);
    inspect_.settle();
    float rows = 0;
    for (const ShownRow& row : layout().rows) {
      const float y = row.y - state().scroll;
      // An area has its fill, its band, its edge and risers; a fold its ground, height and line.
      if (y < plot().h && y + row.height > 0) rows += 6 * static_cast<float>(row.levels);
    }
    const auto most = static_cast<std::size_t>(rows * plot().w) + 8'000;  // texts, minimap, tables
    EXPECT_LT(quads(), most) << zoom;
    EXPECT_LT(quads(), static_cast<std::size_t>(1600 * 1000 / 8)) << zoom;
  }
}

// With the picture of a deep zoom still there, the whole run comes into view.
TEST_F(TimelineDrawingTest, DrawsAPictureOfAnotherZoomUntilTheNextOneComes) {
  show(run().step_start(0, 20), run().step_end(0, 22));
  const auto before = inspect_.snapshot().inspect;
  state().window.fit();
  HeadlessWindow& window = inspect_.window();
  window.frames(inspect_.snapshot(), 3);
  EXPECT_EQ(inspect_.snapshot().inspect, before);
  EXPECT_LT(quads(), 60'000u);
  const auto commands = window.take_commands();
  EXPECT_NE(HeadlessWindow::find<state::ShowTimeline>(commands), nullptr);
}

// Zoomed out faster than pictures come: what the last one does not reach is there, but dimmed.
TEST_F(TimelineDrawingTest, ShowsACoarsePictureWhereTheNextOneHasNotCome) {
  const int row = row_of(0, "Phases");
  const auto brightness = [&](std::int64_t time_ns) {
    const auto pixels = window().pixels();
    const auto x = static_cast<std::size_t>(x_of(time_ns)), y = static_cast<std::size_t>(y_of(row));
    const std::uint8_t* pixel = &pixels[4 * (y * static_cast<std::size_t>(window().width()) + x)];
    return pixel[0] + pixel[1] + pixel[2];
  };
  const auto in_backward = [&](int step) {
    return run().step_start(0, step) +
           (run().step_end(0, step) - run().step_start(0, step)) * 6 / 10;
  };
  show_steps(21, 21);
  const auto shown = inspect_.snapshot().inspect->picture;
  show_steps(10, 32);
  const int bright = brightness(in_backward(12));
  inspect_.change().picture = shown;
  window().frames(snapshot(), 2);
  window().take_commands();
  ASSERT_EQ(inspect_.snapshot().inspect->picture, shown);
  const int dimmed = brightness(in_backward(12)), full = brightness(in_backward(21));
  const state::Rgb panel = state::palette(state::ThemeKind::kDark).panel;
  EXPECT_LT(dimmed, bright - 20);
  EXPECT_GT(dimmed, panel.r + panel.g + panel.b + 20);
  EXPECT_GT(full, dimmed + 20);
  // Nothing of it can be pointed at.
  window().move_to(snapshot(), x_of(in_backward(12)), y_of(row));
  window().frames(snapshot(), 2);
  EXPECT_FALSE(inspect_.probe().shows("Duration"));
}

// The memory's last value holds until its rank stopped recording, and no further.
TEST_F(TimelineDrawingTest, AnAreaEndsWhereItsRankStoppedRecording) {
  auto rows = std::make_shared<trace::timeline::TimelineRows>(run().rows());
  rows->ranks[0].end_ns = run().step_end(0, 21);
  inspect_.change().rows = rows;
  show_steps(20, 23);
  const int row = row_of(0, "Memory allocated");
  const ShownRow* shown = layout().find(row);
  ASSERT_NE(shown, nullptr);
  const auto bottom = static_cast<std::size_t>(y_of(row) + shown->height / 2 - 4);
  const auto pixels = window().pixels();
  const auto green = [&](float x) {
    return pixels[4 * (bottom * static_cast<std::size_t>(window().width()) +
                       static_cast<std::size_t>(x)) +
                  1];
  };
  const float end = x_of(run().step_end(0, 21));
  EXPECT_GT(green(end - 3), green(end + 3) + 10);
  EXPECT_LT(green(x_of(run().step_start(0, 23)) + 40), green(end - 3) - 10);
}

TEST_F(TimelineDrawingTest, AsksForAllThatItDrawsAndNothingElse) {
  for (const auto& [first, last] : {std::pair{0, 59}, {20, 22}, {21, 21}}) {
    show(run().step_start(0, first), run().step_end(0, last));
    std::set<int> visible, asked;
    for (const ShownRow& row : layout().rows) {
      const float y = row.y - state().scroll;
      if (row.row >= 0 && y < plot().h && y + row.height > 0) visible.insert(row.row);
    }
    for (const auto& window : inspect_.request().windows) {
      asked.insert(window.row);
      EXPECT_LE(window.start_ns, std::max(state().window.start_ns(), run().rows().start_ns));
      EXPECT_GE(window.end_ns, std::min(state().window.end_ns(), run().rows().end_ns));
    }
    EXPECT_EQ(asked, visible);
  }
}

TEST_F(TimelineDrawingTest, AsksOncePerView) {
  show(run().step_start(0, 20), run().step_end(0, 22));
  for (int i = 0; i < 5; ++i) inspect_.window().frame(inspect_.snapshot());
  EXPECT_EQ(HeadlessWindow::find<state::ShowTimeline>(inspect_.window().take_commands()), nullptr);
  state().window.zoom(0.5, 4);
  for (int i = 0; i < 5; ++i) inspect_.window().frame(inspect_.snapshot());
  const auto commands = inspect_.window().take_commands();
  EXPECT_EQ(std::count_if(commands.begin(), commands.end(),
                          [](const state::Command& c) {
                            return std::holds_alternative<state::ShowTimeline>(c);
                          }),
            1);
}

TEST_F(TimelineDrawingTest, AsksAnewForAnotherRun) {
  inspect_.change().run_folder = "/runs/another";
  inspect_.window().frames(inspect_.snapshot(), 2);
  EXPECT_NE(HeadlessWindow::find<state::ShowTimeline>(inspect_.window().take_commands()), nullptr);
  EXPECT_TRUE(state().window.is_fitted());
}

// Step 10's name is longer than step 9's: one form for all that are seen whole.
TEST_F(TimelineDrawingTest, NamesTheStepsInOneForm) {
  const auto heads = [&](std::string_view how) {
    return std::ranges::count_if(inspect_.probe().texts, [&](const kit::DrawProbe::Text& text) {
      const float above = plot().y - text.rect.y;
      const bool is_above = above > 0 && above < 50 && plot().contains(text.rect.x, plot().y);
      const bool is_number = text.text.find_first_not_of("0123456789") == std::string::npos;
      return is_above && (how.empty() ? is_number : text.text.starts_with(how));
    });
  };
  bool were_named = false, were_numbers = false;
  for (int last = 3; last < 40; ++last) {
    show(run().step_start(0, 1), run().step_end(0, last));
    EXPECT_TRUE(heads("step ") == 0 || heads("") == 0) << last << " steps";
    were_named |= heads("step ") > 0;
    were_numbers |= heads("") > 0;
  }
  EXPECT_TRUE(were_named && were_numbers);
}

// What it pointed into is kept by the test, so that drawing it is seen, not only punished.
TEST_F(TimelineDrawingTest, DrawsNothingOfTheRunBefore) {
  const auto labels_of_events = [&] {
    const auto& texts = inspect_.probe().texts;
    return std::ranges::count_if(texts, [&](const kit::DrawProbe::Text& text) {
      return text.text == "forward" && plot().contains(text.rect.x, text.rect.y);
    });
  };
  show(run().step_start(0, 20), run().step_end(0, 22));
  const auto kept = snapshot().inspect;
  ASSERT_GT(labels_of_events(), 0);
  state::InspectView& next = inspect_.change();
  next.run_folder = "/runs/another";
  next.picture.reset();
  next.overview.reset();
  window().frame(snapshot());
  state().window.show(run().step_start(0, 20), run().step_end(0, 22));
  window().frame(snapshot());
  EXPECT_EQ(labels_of_events(), 0);
}

TEST_F(TimelineDrawingTest, GivesUpWhatBelongsToTheRunBefore) {
  show(run().step_start(0, 20), run().step_end(0, 22));
  const std::weak_ptr<const trace::timeline::TimelinePicture> picture = snapshot().inspect->picture,
                                                              overview =
                                                                  snapshot().inspect->overview;
  state::InspectView& next = inspect_.change();
  next.run_folder = "/runs/another";
  next.picture.reset();
  next.overview.reset();
  window().frame(snapshot());
  EXPECT_TRUE(picture.expired());
  EXPECT_TRUE(overview.expired());
}

// Figures and events are read by two workers, of which either may be first.
TEST_F(TimelineDrawingTest, TabsShowNoFiguresOfAnotherRun) {
  window().view().inspect().tabs().show(InspectTab::kSteps);
  inspect_.settle();
  ASSERT_NE(inspect_.probe().find("steps/row/0"), nullptr);
  inspect_.change().run_folder = "/runs/another";
  inspect_.settle();
  EXPECT_EQ(inspect_.probe().find("steps/row/0"), nullptr);
}

TEST_F(TimelineDrawingTest, GoesToTheAddressOfAView) {
  window::MainView& view = window().view();
  show(run().step_start(0, 20), run().step_end(0, 22));
  state().selection = trace::base::Interval{run().step_start(0, 21), run().step_end(0, 21)};
  state().aligned_by_step = true;
  view.inspect().tabs().show(InspectTab::kSteps);
  inspect_.settle();
  const state::ViewAddress address = view.inspect().address(*snapshot().inspect);
  const std::int64_t start = state().window.start_ns(), end = state().window.end_ns();
  const auto selection = *state().selection;
  state().window.fit();
  state().selection.reset();
  state().aligned_by_step = false;
  view.inspect().tabs().show(InspectTab::kLog);
  inspect_.settle();
  inspect_.take_commands();
  view.go_to(address);
  inspect_.settle();
  EXPECT_NEAR(static_cast<double>(state().window.start_ns() - start), 0, 2);
  EXPECT_NEAR(static_cast<double>(state().window.end_ns() - end), 0, 4);
  EXPECT_EQ(state().selection, selection);
  EXPECT_EQ(view.inspect().tabs().tab(), InspectTab::kSteps);
  const auto selected = inspect_.take<state::SelectRange>();
  ASSERT_EQ(selected.size(), 1u);
  EXPECT_EQ(selected.front().range.start_ns, selection.start_ns);
  EXPECT_EQ(selected.front().range.of_rank(7).start_ns, run().step_start(7, 21)) << "aligned";
}

// Times count from the run's start, which is not known before.
TEST_F(TimelineDrawingTest, GoesToAnAddressOnceAllRowsWereRead) {
  window::MainView& view = window().view();
  show(run().step_start(0, 20), run().step_end(0, 22));
  const state::ViewAddress address = view.inspect().address(*snapshot().inspect);
  const std::int64_t start = state().window.start_ns();
  state().window.fit();
  auto rows = std::make_shared<trace::timeline::TimelineRows>(run().rows());
  rows->start_ns = run().step_start(0, 10);
  rows->has_all_rows = false;
  inspect_.change().rows = rows;
  view.go_to(address);
  inspect_.settle();
  inspect_.change().rows = std::make_shared<trace::timeline::TimelineRows>(run().rows());
  inspect_.settle();
  EXPECT_NEAR(static_cast<double>(state().window.start_ns() - start), 0, 2);
}

TEST_F(TimelineDrawingTest, GoesNowhereOnceTheUserHasMoved) {
  window::MainView& view = window().view();
  show(run().step_start(0, 20), run().step_end(0, 22));
  view.inspect().tabs().show(InspectTab::kSteps);
  inspect_.settle();
  const state::ViewAddress address = view.inspect().address(*snapshot().inspect);
  state().window.fit();
  view.inspect().tabs().show(InspectTab::kLog);
  auto rows = std::make_shared<trace::timeline::TimelineRows>(run().rows());
  rows->has_all_rows = false;
  inspect_.change().rows = rows;
  view.go_to(address);
  inspect_.settle();
  state().window.show(run().step_start(0, 30), run().step_end(0, 30));
  inspect_.settle();
  const std::int64_t start = state().window.start_ns();
  inspect_.change().rows = std::make_shared<trace::timeline::TimelineRows>(run().rows());
  inspect_.settle();
  EXPECT_EQ(state().window.start_ns(), start);
  EXPECT_EQ(view.inspect().tabs().tab(), InspectTab::kSteps);
}

TEST_F(TimelineDrawingTest, GoesNowhereOnceTheUserHasMovedAmongSteps) {
  window::MainView& view = window().view();
  show(run().step_start(0, 20), run().step_end(0, 22));
  inspect_.settle();
  const state::ViewAddress address = view.inspect().address(*snapshot().inspect);
  state().mode = TimelineState::Mode::kSteps;
  const auto goes_after = [&](const auto& move) {
    auto rows = std::make_shared<trace::timeline::TimelineRows>(run().rows());
    rows->has_all_rows = false;
    inspect_.change().rows = rows;
    view.go_to(address);
    inspect_.settle();
    move();
    inspect_.settle();
    inspect_.change().rows = std::make_shared<trace::timeline::TimelineRows>(run().rows());
    inspect_.settle();
    return state().mode == TimelineState::Mode::kTime;
  };
  EXPECT_FALSE(goes_after([&] { state().step_window.show(5'000'000, 8'000'000); }));
  EXPECT_NEAR(state().step_window.span_ns(), 3e6, 4);
  EXPECT_FALSE(goes_after([&] { state().step_rank = 3; }));
  EXPECT_FALSE(goes_after([&] {
    state().selection = trace::base::Interval{run().step_start(0, 30), run().step_end(0, 30)};
  }));
  EXPECT_TRUE(goes_after([] {})) << "the user waits for it";
}

TEST_F(TimelineDrawingTest, StaysWhereItIsForAnAddressOfTune) {
  show(run().step_start(0, 20), run().step_end(0, 22));
  const TimeWindow shown = state().window;
  state::ViewAddress address;
  address.workspace = state::kTuneWorkspace;
  address.run = window().view().inspect().address(*snapshot().inspect).run;
  window().view().go_to(address);
  window().press(snapshot(), kit::Key::kTwo, true);
  inspect_.settle();
  EXPECT_EQ(state().window, shown);
}

TEST_F(TimelineDrawingTest, GoesToTheAddressOfStepsOneAboveTheOther) {
  window::MainView& view = window().view();
  state().mode = TimelineState::Mode::kSteps;
  state().step_rank = 3;
  inspect_.settle();
  view.inspect().timeline().show_steps_of(3, 30);
  state().step_window.show(5'000'000, 8'000'000);
  inspect_.settle();
  const float scroll = state().step_scroll;
  EXPECT_GT(scroll, 0);
  const auto address =
      state::parse_address(state::address_text(view.inspect().address(*snapshot().inspect)));
  ASSERT_TRUE(address);
  EXPECT_EQ(address->step, 30);
  state().mode = TimelineState::Mode::kTime;
  state().step_rank = -1;
  state().step_window.fit();
  state().step_scroll = 0;
  inspect_.settle();
  view.go_to(*address);
  inspect_.settle();
  EXPECT_EQ(state().mode, TimelineState::Mode::kSteps);
  EXPECT_EQ(state().step_rank, 3);
  EXPECT_NEAR(static_cast<double>(state().step_window.start_ns()), 5e6, 2);
  EXPECT_NEAR(state().step_window.span_ns(), 3e6, 4);
  EXPECT_EQ(state().step_scroll, scroll);
}

// Where steps are narrower than a few pixels.
TEST(TimelineOfManySteps, SaysThatWhatIsDrawnIsAMean) {
  InspectWindow many(1600, 1000, {}, {.steps = 400});
  const auto tells_mean = [&] {
    const state::Rect plot = many.probe().find("inspect/plot")->rect;
    const RowLayout& layout = many.window().view().inspect().timeline().layout();
    const auto& rows = many.run().rows().rows;
    const auto ribbon = std::ranges::find_if(layout.rows, [&](const ShownRow& row) {
      return row.row >= 0 &&
             rows[static_cast<std::size_t>(row.row)].kind == trace::timeline::RowKind::kRibbon;
    });
    EXPECT_NE(ribbon, layout.rows.end());
    many.window().move_to(many.snapshot(), plot.center_x(),
                          plot.y + ribbon->y + ribbon->height / 2);
    many.window().frames(many.snapshot(), 2);
    return many.probe().shows("around it");
  };
  EXPECT_TRUE(tells_mean());
  many.state().window.show(many.run().step_start(0, 20), many.run().step_end(0, 60));
  many.settle();
  EXPECT_FALSE(tells_mean());
}

TEST_F(TimelineDrawingTest, DimsWhatIsNotSearched) {
  show(run().step_start(0, 21), run().step_end(0, 21));
  const int row = row_of(0, "All-gather");
  const auto color_in_event = [&](std::size_t index) {
    const SampleEvent event = run().events(row, 21)[index];
    const ShownRow* shown = layout().find(row);
    const double middle =
        (state().window.position(event.start_ns) + state().window.position(event.end_ns)) / 2;
    const auto x = static_cast<std::size_t>(plot().x + static_cast<float>(middle) * plot().w);
    const auto y =
        static_cast<std::size_t>(plot().y + shown->y - state().scroll + shown->height - 3);
    const auto pixels = inspect_.window().pixels();
    return pixels[4 * (y * static_cast<std::size_t>(inspect_.window().width()) + x) + 1];
  };
  const auto full = color_in_event(3);
  EXPECT_EQ(full, color_in_event(5));
  auto hits = std::make_shared<trace::timeline::NameHits>();
  hits->names.push_back(
      {run().events(row, 21)[3].name, trace::timeline::EventTableKind::kCollective, 60, 1});
  hits->count = 60;
  inspect_.change().hits = hits;
  inspect_.settle();
  EXPECT_EQ(color_in_event(3), full);
  EXPECT_LT(color_in_event(5), full / 2);
}

}  // namespace

}  // namespace shardlens::ui::inspect
