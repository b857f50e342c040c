// The whole run in one strip: jumps, drags, resizes, tells.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/ui/inspect/inspect_window.h"

namespace shardlens::ui {

namespace {

class MinimapTest : public ::testing::Test {
 protected:
  MinimapTest() { show(20, 29); }

  void show(int first, int last) {
    state().window.show(run().step_start(0, first), run().step_end(0, last));
    inspect_.settle();
  }
  TimelineState& state() { return inspect_.state(); }
  const SampleRun& run() const { return inspect_.run(); }
  Rect strip() const { return inspect_.probe().find("inspect/minimap")->rect.inset(3, 4); }
  float x_of(std::int64_t time) const {
    TimeWindow whole;
    whole.set_extent(run().rows().start_ns, run().rows().end_ns);
    return strip().x + static_cast<float>(whole.position(time)) * strip().w;
  }
  void drag(float from, float to) {
    const float y = strip().center_y();
    inspect_.window().move_to(inspect_.snapshot(), from, y);
    ImGui::GetIO().MouseDown[0] = true;
    inspect_.frame();
    inspect_.window().move_to(inspect_.snapshot(), to, y);
    ImGui::GetIO().MouseDown[0] = false;
    inspect_.settle();
  }

  InspectWindow inspect_{1600, 1000, {}, {.steps = 60}};
};

TEST_F(MinimapTest, SaysHowManyStepsAreShown) {
  EXPECT_TRUE(inspect_.probe().shows("10 steps shown"));
  show(5, 5);
  EXPECT_TRUE(inspect_.probe().shows("1 step shown"));
  EXPECT_TRUE(inspect_.probe().shows("60 steps · "));
}

TEST_F(MinimapTest, AClickJumpsThereAndKeepsTheSpan) {
  const double span = state().window.span_ns();
  const std::int64_t there = run().step_start(0, 50);
  inspect_.window().click_at(inspect_.snapshot(), x_of(there), strip().center_y());
  EXPECT_NEAR(state().window.position(there), 0.5, 0.01);
  EXPECT_NEAR(state().window.span_ns(), span, 1);
}

TEST_F(MinimapTest, TheFrameIsDragged) {
  const double span = state().window.span_ns();
  const std::int64_t from = run().step_start(0, 25), to = run().step_start(0, 40);
  drag(x_of(from), x_of(to));
  EXPECT_NEAR(static_cast<double>(state().window.start_ns() - run().step_start(0, 20)),
              static_cast<double>(to - from), 3e8);
  EXPECT_NEAR(state().window.span_ns(), span, 1);
}

TEST_F(MinimapTest, TheSidesOfTheFrameAreDragged) {
  const std::int64_t start = state().window.start_ns(), end = state().window.end_ns();
  drag(x_of(end), x_of(run().step_start(0, 45)));
  EXPECT_EQ(state().window.start_ns(), start);
  EXPECT_NEAR(static_cast<double>(state().window.end_ns() - run().step_start(0, 45)), 0, 2e8);
  drag(x_of(start), x_of(run().step_start(0, 10)));
  EXPECT_NEAR(static_cast<double>(state().window.start_ns() - run().step_start(0, 10)), 0, 2e8);
}

TEST_F(MinimapTest, TellsTheStepAndItsExposedShare) {
  inspect_.window().move_to(inspect_.snapshot(), x_of(run().step_start(0, 33) + 300'000'000),
                            strip().center_y());
  inspect_.window().frames(inspect_.snapshot(), 3);
  EXPECT_TRUE(inspect_.probe().shows("Step 33"));
  EXPECT_TRUE(inspect_.probe().shows("Exposed"));
}

TEST_F(MinimapTest, TellsThatARunIsStillRead) {
  inspect_.change().progress = 0.42;
  inspect_.settle();
  EXPECT_TRUE(inspect_.probe().shows("reading… 42 %"));
}

}  // namespace

}  // namespace shardlens::ui
