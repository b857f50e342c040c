// The whole run in one strip: jumps, drags, resizes, tells.
#include <cstdint>
#include <memory>

#include "tests/ui/inspect/testing/timeline_test.h"

namespace shardlens::ui::inspect {

namespace {

class MinimapTest : public TimelineTest {
 protected:
  MinimapTest() { show_steps(20, 29); }

  state::Rect strip() const { return inspect_.probe().find("inspect/minimap")->rect.inset(3, 4); }
  float strip_x_of(std::int64_t time) const {
    TimeWindow whole;
    whole.set_extent(run().rows().start_ns, run().rows().end_ns);
    return strip().x + static_cast<float>(whole.position(time)) * strip().w;
  }
  void drag_on_strip(float from, float to) {
    const float y = strip().center_y();
    inspect_.window().move_to(inspect_.snapshot(), from, y);
    ImGui::GetIO().MouseDown[0] = true;
    inspect_.frame();
    inspect_.window().move_to(inspect_.snapshot(), to, y);
    ImGui::GetIO().MouseDown[0] = false;
    inspect_.settle();
  }
};

TEST_F(MinimapTest, SaysHowManyStepsAreShown) {
  EXPECT_TRUE(inspect_.probe().shows("10 steps shown"));
  show_steps(5, 5);
  EXPECT_TRUE(inspect_.probe().shows("1 step shown"));
  EXPECT_TRUE(inspect_.probe().shows("60 steps · "));
}

TEST_F(MinimapTest, ShowsNothingOfWhatAReplayHasNotReached) {
  replay_until(run().step_start(0, 30));
  EXPECT_TRUE(inspect_.probe().shows("30 steps · "));
  const auto pixels = inspect_.window().pixels();
  const auto at = [&](int step) {
    const auto x = static_cast<std::size_t>(strip_x_of(run().step_start(0, step)) + 3);
    const auto y = static_cast<std::size_t>(strip().center_y());
    const auto* pixel = &pixels[4 * (y * static_cast<std::size_t>(window().width()) + x)];
    return state::Rgb{pixel[0], pixel[1], pixel[2]};
  };
  EXPECT_NE(at(10), state::palette(state::ThemeKind::kDark).panel);
  EXPECT_EQ(at(50), state::palette(state::ThemeKind::kDark).panel);
}

TEST_F(MinimapTest, AClickJumpsThereAndKeepsTheSpan) {
  const double span = state().window.span_ns();
  const std::int64_t there = run().step_start(0, 50);
  inspect_.window().click_at(inspect_.snapshot(), strip_x_of(there), strip().center_y());
  EXPECT_NEAR(state().window.position(there), 0.5, 0.01);
  EXPECT_NEAR(state().window.span_ns(), span, 1);
}

// Steps one above the other are of no part of it.
TEST_F(MinimapTest, AClickLeavesTheStepsForThatPart) {
  state().mode = TimelineState::Mode::kSteps;
  inspect_.settle();
  EXPECT_FALSE(inspect_.probe().shows(" steps shown"));
  const std::int64_t there = run().step_start(0, 25);  // in what was shown by the clock, too
  window().click_at(snapshot(), strip_x_of(there), strip().center_y());
  EXPECT_EQ(state().mode, TimelineState::Mode::kTime);
  EXPECT_NEAR(state().window.position(there), 0.5, 0.01);
  inspect_.settle();
  EXPECT_TRUE(inspect_.probe().shows(" steps shown"));
}

TEST_F(MinimapTest, AClickLeavesTheStepsForThatOneWhereNoPartWasShown) {
  state().mode = TimelineState::Mode::kSteps;
  state().window.fit();
  inspect_.settle();
  const std::int64_t there = run().step_start(0, 25);
  window().click_at(snapshot(), strip_x_of(there), strip().center_y());
  EXPECT_EQ(state().mode, TimelineState::Mode::kTime);
  EXPECT_NEAR(state().window.position(there), 0.5, 0.1);
  const auto length = static_cast<double>(run().step_start(0, 26) - there);
  EXPECT_LT(state().window.span_ns(), 4 * length) << "with one on each side";
}

TEST_F(MinimapTest, TheWheelZoomsThePartAtThePointer) {
  const double span = state().window.span_ns();
  const std::int64_t there = run().step_start(0, 27);
  const double place = state().window.position(there);
  window().move_to(snapshot(), strip_x_of(there), strip().center_y());
  window().wheel(snapshot(), 2);
  EXPECT_LT(state().window.span_ns(), 0.8 * span);
  EXPECT_NEAR(state().window.position(there), place, 0.05);
}

// What is not on screen stays as it was.
TEST_F(MinimapTest, TheWheelZoomsTheStepsThatAreShown) {
  state().mode = TimelineState::Mode::kSteps;
  inspect_.settle();
  const TimeWindow by_the_clock = state().window;
  const double span = state().step_window.span_ns();
  const std::int64_t middle = state().step_window.time_at(0.5);
  window().move_to(snapshot(), strip_x_of(run().step_start(0, 25)), strip().center_y());
  window().wheel(snapshot(), 2);
  EXPECT_EQ(state().mode, TimelineState::Mode::kSteps);
  EXPECT_LT(state().step_window.span_ns(), 0.8 * span);
  EXPECT_NEAR(state().step_window.position(middle), 0.5, 0.01);
  EXPECT_EQ(state().window, by_the_clock);
}

TEST_F(MinimapTest, TheFrameIsDragged) {
  const double span = state().window.span_ns();
  const std::int64_t from = run().step_start(0, 25), to = run().step_start(0, 40);
  drag_on_strip(strip_x_of(from), strip_x_of(to));
  EXPECT_NEAR(static_cast<double>(state().window.start_ns() - run().step_start(0, 20)),
              static_cast<double>(to - from), 3e8);
  EXPECT_NEAR(state().window.span_ns(), span, 1);
}

TEST_F(MinimapTest, TheSidesOfTheFrameAreDragged) {
  const std::int64_t start = state().window.start_ns(), end = state().window.end_ns();
  drag_on_strip(strip_x_of(end), strip_x_of(run().step_start(0, 45)));
  EXPECT_EQ(state().window.start_ns(), start);
  EXPECT_NEAR(static_cast<double>(state().window.end_ns() - run().step_start(0, 45)), 0, 2e8);
  drag_on_strip(strip_x_of(start), strip_x_of(run().step_start(0, 10)));
  EXPECT_NEAR(static_cast<double>(state().window.start_ns() - run().step_start(0, 10)), 0, 2e8);
}

TEST_F(MinimapTest, TellsTheStepAndItsExposedShare) {
  inspect_.window().move_to(inspect_.snapshot(), strip_x_of(run().step_start(0, 33) + 300'000'000),
                            strip().center_y());
  inspect_.window().frames(inspect_.snapshot(), 3);
  EXPECT_TRUE(inspect_.probe().shows("Step 33"));
  EXPECT_TRUE(inspect_.probe().shows("Exposed"));
}

TEST_F(MinimapTest, TellsWhatIsMissingOfARunAndWhatContradictsItself) {
  EXPECT_FALSE(inspect_.probe().shows("incomplete"));
  EXPECT_FALSE(inspect_.probe().shows("odd times"));
  auto rows = std::make_shared<trace::timeline::TimelineRows>(run().rows());
  rows->overlapping_events = 3;
  inspect_.change().rows = rows;
  inspect_.settle();
  EXPECT_TRUE(inspect_.probe().shows("odd times"));
  rows = std::make_shared<trace::timeline::TimelineRows>(*rows);
  rows->incomplete = "rank 3 cannot be opened";
  inspect_.change().rows = rows;
  inspect_.settle();
  EXPECT_TRUE(inspect_.probe().shows("incomplete"));
  EXPECT_FALSE(inspect_.probe().shows("rank 3 cannot be opened"));
  window().move_to(snapshot(), strip().x - 60, strip().center_y());
  window().frames(snapshot(), 3);
  EXPECT_TRUE(inspect_.probe().shows("rank 3 cannot be opened"));
  EXPECT_TRUE(inspect_.probe().shows("3 began in another one of their lane"));
}

TEST_F(MinimapTest, TellsThatARunIsStillRead) {
  inspect_.change().progress = 0.42;
  inspect_.settle();
  EXPECT_TRUE(inspect_.probe().shows("reading… 42 %"));
}

}  // namespace

}  // namespace shardlens::ui::inspect
