// Steps one above the other, aligned at their starts.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/ui/inspect/testing/timeline_test.h"

namespace shardlens::ui::inspect {

namespace {

class StepModeTest : public TimelineTest {
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
  const state::Palette& p = state::palette(state::ThemeKind::kDark);
  const auto pixels = inspect_.window().pixels();
  const int width = inspect_.window().width();
  int rows_with_optimizer = 0;
  for (int y = static_cast<int>(plot().y); y < static_cast<int>(plot().bottom()); ++y) {
    bool seen = false;
    for (int x = static_cast<int>(plot().x); x < static_cast<int>(plot().right()); ++x) {
      const std::uint8_t* pixel = &pixels[static_cast<std::size_t>(4 * (y * width + x))];
      seen |= state::Rgb{pixel[0], pixel[1], pixel[2]} == p.optimizer;
    }
    rows_with_optimizer += seen ? 1 : 0;
  }
  // A ribbon and a stream of kernels each.
  EXPECT_GE(rows_with_optimizer, static_cast<int>(shown_steps().size() - 1) * 20);
}

TEST_F(StepModeTest, MarksTheLongestStepAndShowsItLonger) {
  auto rows = std::make_shared<trace::timeline::TimelineRows>(run().rows());
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

TEST_F(StepModeTest, AReplayShowsNothingThatIsStillToCome) {
  const int gathers = row_of(0, "All-gather");
  const SampleEvent event = run().events(gathers, 2)[20];
  // In the third block, in the row below its ribbon.
  const auto picks = [&] {
    float y = 0;
    int seen = 0;
    for (const auto& text : inspect_.probe().texts) {
      if (text.text == "All-gather stream 20" && text.rect.x < plot().x && ++seen == 3)
        y = text.rect.center_y();
    }
    const std::int64_t middle = (event.start_ns + event.end_ns) / 2 - run().step_start(0, 2);
    const double x = state().step_window.position(middle) * static_cast<double>(plot().w);
    inspect_.window().frames(inspect_.snapshot(), 20);  // not a double-click
    inspect_.window().click_at(inspect_.snapshot(), plot().x + static_cast<float>(x), y);
    inspect_.settle();
    return inspect_.take<state::PickEvent>().size();
  };
  replay_until(event.start_ns - 1);
  EXPECT_EQ(shown_steps(), (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_TRUE(inspect_.probe().shows("running"));
  EXPECT_EQ(picks(), 0u);
  replay_until(run().step_end(0, 2));
  EXPECT_FALSE(inspect_.probe().shows("running"));
  EXPECT_EQ(picks(), 1u);
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
  const auto picked = inspect_.take<state::PickEvent>();
  ASSERT_EQ(picked.size(), 1u);
  EXPECT_EQ(picked[0].event, event.ref);
}

}  // namespace

}  // namespace shardlens::ui::inspect
