// The arrow from a launch to what it started: by the pixels that it changes.
#include <algorithm>
#include <optional>

#include "tests/ui/inspect/testing/timeline_test.h"

namespace shardlens::ui::inspect {

namespace {

class LaunchArrowTest : public TimelineTest {
 protected:
  LaunchArrowTest() {
    state().filter.set(trace::timeline::RowKind::kLaunches, true);
    launch_ = place_of(row_of(0, "Launches"), 21, 20);
    kernel_ = place_of(row_of(0, "Compute"), 21, 60);
    show(launch_.start_ns - 20'000'000, kernel_.end_ns + 20'000'000);
  }
  // What an arrow changes in the plot, as opposed to details without a link; none: nothing.
  std::optional<state::Rect> drawn(const trace::timeline::EventPlace& picked,
                                   const trace::timeline::EventPlace& other, const char* label) {
    trace::timeline::EventDetails details;
    details.place = picked;
    publish(details, false);
    const auto before = window().pixels();
    details.links.push_back({label, other});
    publish(details, false);
    const auto after = window().pixels();
    float left = plot().right(), right = plot().x, top = plot().bottom(), bottom = plot().y;
    bool any = false;
    for (float y = plot().y; y < plot().bottom(); ++y) {
      for (float x = plot().x; x < plot().right(); ++x) {
        const auto at =
            4 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(window().width()) +
                 static_cast<std::size_t>(x));
        if (std::equal(&before[at], &before[at] + 3, &after[at])) continue;
        any = true;
        left = std::min(left, x), right = std::max(right, x);
        top = std::min(top, y), bottom = std::max(bottom, y);
      }
    }
    if (!any) return std::nullopt;
    return state::Rect{left, top, right - left, bottom - top};
  }
  void expect_from_launch_to_kernel(const std::optional<state::Rect>& arrow) {
    ASSERT_TRUE(arrow);
    EXPECT_NEAR(arrow->x, x_of(launch_.end_ns), 4);
    EXPECT_NEAR(arrow->right(), x_of(kernel_.start_ns), 4);
    EXPECT_NEAR(arrow->y, y_of(launch_.row), 6);
    EXPECT_NEAR(arrow->bottom(), y_of(kernel_.row), 6);
  }

  trace::timeline::EventPlace launch_, kernel_;
};

TEST_F(LaunchArrowTest, GoesFromTheLaunchToTheKernelWhicheverIsPicked) {
  ASSERT_LT(y_of(launch_.row) + 10, y_of(kernel_.row));
  expect_from_launch_to_kernel(drawn(kernel_, launch_, "Launch"));
  expect_from_launch_to_kernel(drawn(launch_, kernel_, "Kernel"));
}

TEST_F(LaunchArrowTest, IsNotDrawnBetweenAnOperatorAndALaunch) {
  const trace::timeline::EventPlace caller = place_of(row_of(0, "Operators"), 21, 5);
  EXPECT_FALSE(drawn(caller, launch_, "Launch"));
}

TEST_F(LaunchArrowTest, IsNotDrawnWhereOneOfThemIsOutOfSight) {
  show(launch_.end_ns + 1'000'000, kernel_.end_ns + 20'000'000);
  EXPECT_FALSE(drawn(kernel_, launch_, "Launch"));
  show(launch_.start_ns - 20'000'000, kernel_.start_ns - 1'000'000);
  EXPECT_FALSE(drawn(launch_, kernel_, "Kernel"));
}

TEST_F(LaunchArrowTest, IsNotDrawnWhereARowIsHiddenOrItsRankFolded) {
  state().filter.set(trace::timeline::RowKind::kLaunches, false);
  inspect_.settle();
  EXPECT_FALSE(drawn(kernel_, launch_, "Launch"));
  state().filter.set(trace::timeline::RowKind::kLaunches, true);
  state().folds.ranks[0] = false;
  inspect_.settle();
  EXPECT_FALSE(drawn(kernel_, launch_, "Launch"));
}

TEST_F(LaunchArrowTest, IsNotDrawnToWhatAReplayHasNotReached) {
  replay_until(kernel_.start_ns - 1);
  EXPECT_FALSE(drawn(launch_, kernel_, "Kernel"));
  replay_until(kernel_.end_ns);
  EXPECT_TRUE(drawn(launch_, kernel_, "Kernel"));
}

}  // namespace

}  // namespace shardlens::ui::inspect
