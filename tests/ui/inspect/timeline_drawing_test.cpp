// What is drawn of the rows: against the events themselves, never more than pixels, and only what
// can be seen is asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include "tests/ui/inspect/inspect_window.h"
#include "ui/inspect/timeline_colors.h"

namespace shardlens::ui {

namespace {

class TimelineDrawingTest : public ::testing::Test {
 protected:
  TimelineState& state() { return inspect_.state(); }
  const SampleRun& run() const { return inspect_.run(); }
  Rect plot() const { return inspect_.probe().find("inspect/plot")->rect; }
  const RowLayout& layout() { return inspect_.window().view().inspect().timeline().layout(); }
  int row_of(int rank, std::string_view label) const {
    for (const auto& row : run().rows().rows) {
      if (row.rank == rank && row.label.starts_with(label)) return row.id;
    }
    return -1;
  }
  void show(std::int64_t start, std::int64_t end) {
    state().window.show(start, end);
    inspect_.settle();
  }
  static std::size_t quads() {
    const ImDrawData& data = *ImGui::GetDrawData();
    return static_cast<std::size_t>(data.TotalIdxCount) / 6;
  }

  InspectWindow inspect_{1600, 1000, {}, {.steps = 60}};
};

// Every pixel column of a row of collectives, against the events that it covers.
TEST_F(TimelineDrawingTest, PaintsEveryEventWhereItIs) {
  const int row = row_of(0, "All-gather");
  show(run().step_start(0, 21), run().step_end(0, 21));
  const ShownRow* shown = layout().find(row);
  ASSERT_NE(shown, nullptr);
  const Rect area = plot();
  const int y = static_cast<int>(area.y + shown->y - state().scroll + shown->height - 3);
  const auto pixels = inspect_.window().pixels();
  const auto events = run().events(row, 21);
  const Palette& p = palette(ThemeKind::kDark);
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
    const Rgb seen{pixel[0], pixel[1], pixel[2]};
    ++checked;
    if (inside == nullptr) {
      EXPECT_LT(seen.g, 70) << x;  // the panel, its grid, a step's border
      continue;
    }
    ++painted;
    EXPECT_EQ(seen, piece_color(p, inside->piece_class)) << x;
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
  EXPECT_NE(HeadlessWindow::find<ShowTimeline>(commands), nullptr);
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
  EXPECT_EQ(HeadlessWindow::find<ShowTimeline>(inspect_.window().take_commands()), nullptr);
  state().window.zoom(0.5, 4);
  for (int i = 0; i < 5; ++i) inspect_.window().frame(inspect_.snapshot());
  const auto commands = inspect_.window().take_commands();
  EXPECT_EQ(std::count_if(commands.begin(), commands.end(),
                          [](const Command& c) { return std::holds_alternative<ShowTimeline>(c); }),
            1);
}

TEST_F(TimelineDrawingTest, AsksAnewForAnotherRun) {
  inspect_.change().run_folder = "/runs/another";
  inspect_.window().frames(inspect_.snapshot(), 2);
  EXPECT_NE(HeadlessWindow::find<ShowTimeline>(inspect_.window().take_commands()), nullptr);
  EXPECT_TRUE(state().window.is_fitted());
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
  auto hits = std::make_shared<trace::NameHits>();
  hits->names.push_back({run().events(row, 21)[3].name, trace::EventTableKind::kCollective, 60, 1});
  hits->count = 60;
  inspect_.change().hits = hits;
  inspect_.settle();
  EXPECT_EQ(color_in_event(3), full);
  EXPECT_LT(color_in_event(5), full / 2);
}

class StepModeTest : public TimelineDrawingTest {
 protected:
  StepModeTest() {
    state().mode = TimelineState::Mode::kSteps;
    inspect_.settle();
  }
  std::vector<std::int64_t> shown_steps() const {
    std::vector<std::int64_t> steps;
    for (const auto& text : inspect_.probe().texts) {
      if (text.text.starts_with("Step ") && text.rect.x < plot().x &&
          plot().contains(plot().center_x(), text.rect.center_y())) {
        steps.push_back(std::stoll(text.text.substr(5)));
      }
    }
    return steps;
  }
};

TEST_F(StepModeTest, PutsStepsOneAboveTheOtherInOrder) {
  auto steps = shown_steps();
  ASSERT_GE(steps.size(), 4u);
  EXPECT_EQ(steps.front(), 0);
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
  state().step_scroll = 2'000;
  inspect_.settle();
  steps = shown_steps();
  ASSERT_GE(steps.size(), 3u);
  EXPECT_GT(steps.front(), 10);
  for (std::size_t i = 1; i < steps.size(); ++i) EXPECT_EQ(steps[i], steps[i - 1] + 1);
}

TEST_F(StepModeTest, AsksForTheStepsInSightOnly) {
  state().step_scroll = 2'000;
  inspect_.settle();
  const auto steps = shown_steps();
  const std::int64_t slack = 700'000'000;
  for (const auto& window : inspect_.request().windows) {
    EXPECT_GE(window.start_ns, run().step_start(0, steps.front() - 1) - slack);
    EXPECT_LE(window.end_ns, run().step_end(0, steps.back() + 1) + slack);
    EXPECT_EQ(run().rows().rows[static_cast<std::size_t>(window.row)].rank, 0);
  }
  EXPECT_GE(inspect_.request().windows.size(), steps.size() * 4);
}

TEST_F(StepModeTest, DrawsEveryStepToItsEnd) {
  // The last optimizer kernel of every step in sight leaves its colour near the step's end.
  const Palette& p = palette(ThemeKind::kDark);
  const auto pixels = inspect_.window().pixels();
  const int width = inspect_.window().width();
  int rows_with_optimizer = 0;
  for (int y = static_cast<int>(plot().y); y < static_cast<int>(plot().bottom()); ++y) {
    bool seen = false;
    for (int x = static_cast<int>(plot().x); x < static_cast<int>(plot().right()); ++x) {
      const std::uint8_t* pixel = &pixels[static_cast<std::size_t>(4 * (y * width + x))];
      seen |= Rgb{pixel[0], pixel[1], pixel[2]} == p.optimizer;
    }
    rows_with_optimizer += seen ? 1 : 0;
  }
  // A ribbon and a stream of kernels each.
  EXPECT_GE(rows_with_optimizer, static_cast<int>(shown_steps().size() - 1) * 20);
}

TEST_F(StepModeTest, MarksTheLongestStepAndShowsItLonger) {
  auto rows = std::make_shared<trace::TimelineRows>(run().rows());
  for (auto& step : rows->steps) {
    if (step.step == 2) step.end_ns += 60'000'000;
  }
  inspect_.change().rows = rows;
  inspect_.settle();
  const StepIndex& steps = inspect_.window().view().inspect().timeline().steps();
  EXPECT_EQ(steps.longest(0)->step, 2);
  float red = 0;
  for (const auto& target : inspect_.probe().texts) red += target.text == "674.4 ms" ? 1.0f : 0.0f;
  const std::int64_t length = steps.longest(0)->end_ns - steps.longest(0)->start_ns;
  EXPECT_GT(length, 660'000'000);
  const auto longer = state().step_window.position(length);
  const auto usual = state().step_window.position(612'000'000);
  EXPECT_GT(longer, usual + 0.05);
}

TEST_F(StepModeTest, PicksAndZoomsAsInTime) {
  HeadlessWindow& window = inspect_.window();
  window.move_to(inspect_.snapshot(), plot().x + plot().w * 0.4f, plot().y + 30);
  const double before = state().step_window.span_ns();
  window.wheel(inspect_.snapshot(), 2);
  EXPECT_LT(state().step_window.span_ns(), before);
  EXPECT_TRUE(state().window.is_fitted());
  inspect_.settle();
  inspect_.take_commands();
  const int row = row_of(0, "All-gather");
  const SampleEvent event = run().events(row, 1)[20];
  const double middle =
      state().step_window.position((event.start_ns + event.end_ns) / 2 - run().step_start(0, 1));
  // The second block's second row.
  float y = 0;
  for (const auto& text : inspect_.probe().texts) {
    if (text.text == "All-gather stream 20" && y == 0 && text.rect.y > plot().y + 80)
      y = text.rect.center_y();
  }
  window.click_at(inspect_.snapshot(), plot().x + static_cast<float>(middle) * plot().w, y);
  const auto picked = inspect_.take<PickEvent>();
  ASSERT_EQ(picked.size(), 1u);
  EXPECT_EQ(picked[0].event, event.ref);
}

}  // namespace

}  // namespace shardlens::ui
