#include "app/search/space.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace shardlens::app::search {
namespace {

using trace::job::Settings;

TEST(SearchSpace, BeginsWhereItStarts) {
  Settings base;
  base.bucket_cap_mb = 3;
  const auto points = search_points(base, {"bucket_cap_mb=1,2"});
  ASSERT_TRUE(points);
  ASSERT_EQ(points->settings.size(), 3u);
  EXPECT_EQ(points->settings.front(), base);
  base.bucket_cap_mb = 2;
  const auto others = search_points(base, {"bucket_cap_mb=1,2"});
  EXPECT_EQ(others->settings.size(), 2u);
  EXPECT_EQ(others->settings.front(), base);
}

// Every default axis is of a knob that the strategy obeys, and makes a grid.
TEST(SearchSpace, IsAGridOfWhatTheStrategyObeys) {
  for (const auto strategy : {trace::job::Strategy::kDdp, trace::job::Strategy::kFullShard}) {
    for (const Goal goal : {Goal::kStepTime, Goal::kTokenRate, Goal::kMemory}) {
      Settings base;
      base.sharding_strategy = strategy;
      const auto axes = default_axes(base, goal);
      ASSERT_FALSE(axes.empty());
      const auto points = search_points(base, axes);
      ASSERT_TRUE(points) << points.error().message;
      EXPECT_GT(points->settings.size(), 1u);
      for (const auto* knob : points->varied) {
        EXPECT_TRUE(trace::job::applies(*knob, strategy)) << knob->name;
        const bool is_batch = knob->name == "batch_per_rank";
        EXPECT_TRUE(!is_batch || goal == Goal::kTokenRate) << "a step would learn something else";
      }
    }
  }
}

}  // namespace
}  // namespace shardlens::app::search
