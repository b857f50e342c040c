#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ui/tune/panels.h"

namespace shardlens::ui::tune {

namespace {

TEST(Replay, StepsThroughSpeedsAndSeeks) {
  EXPECT_DOUBLE_EQ(faster(1), 2);
  EXPECT_DOUBLE_EQ(slower(1), 0.5);
  EXPECT_DOUBLE_EQ(faster(100), 100);
  EXPECT_DOUBLE_EQ(slower(0.25), 0.1);
  EXPECT_DOUBLE_EQ(faster(0.01), 0.02);
  EXPECT_DOUBLE_EQ(slower(0.01), 0.01);
  state::ReplayState replay{true, true, 1, 1000, 3000, 2000};
  EXPECT_FLOAT_EQ(replay_position(replay), 0.5f);
  EXPECT_EQ(replay_time(replay, 0.25f), 1500);
  EXPECT_EQ(replay_time(replay, 7), 3000);
  EXPECT_FLOAT_EQ(replay_position({}), 0);
}

}  // namespace

}  // namespace shardlens::ui::tune
