#include <gtest/gtest.h>

#include <limits>

#include "app/session/watch/run_watcher.h"
#include "tests/trace/units.h"

namespace shardlens::app::session {
namespace {

using trace::kSecond;

ReplayClock loaded() {
  ReplayClock clock;
  clock.load(100 * kSecond, 160 * kSecond);
  return clock;
}

TEST(ReplayClock, StandsAtTheStartUntilItPlays) {
  const auto clock = loaded();
  EXPECT_EQ(clock.now_ns(0), 100 * kSecond);
  EXPECT_EQ(clock.now_ns(1000 * kSecond), 100 * kSecond);
  EXPECT_FALSE(clock.playing(0));
}

TEST(ReplayClock, MovesWithTheWallTimesItsSpeed) {
  auto clock = loaded();
  clock.play(5 * kSecond);
  EXPECT_EQ(clock.now_ns(15 * kSecond), 110 * kSecond);
  clock.set_speed(4, 15 * kSecond);
  EXPECT_EQ(clock.now_ns(15 * kSecond), 110 * kSecond);
  EXPECT_EQ(clock.now_ns(20 * kSecond), 130 * kSecond);
}

TEST(ReplayClock, PauseKeepsThePlace) {
  auto clock = loaded();
  clock.play(0);
  clock.pause(7 * kSecond);
  EXPECT_EQ(clock.now_ns(500 * kSecond), 107 * kSecond);
  clock.play(500 * kSecond);
  EXPECT_EQ(clock.now_ns(501 * kSecond), 108 * kSecond);
}

TEST(ReplayClock, SpeedIsHeldBetweenAHundredthAndAHundred) {
  auto clock = loaded();
  clock.set_speed(0, 0);
  EXPECT_EQ(clock.speed(), 0.01);
  clock.set_speed(1e9, 0);
  EXPECT_EQ(clock.speed(), 100);
  clock.set_speed(std::numeric_limits<double>::quiet_NaN(), 0);
  EXPECT_EQ(clock.speed(), 100);
}

TEST(ReplayClock, SeekingIsHeldInsideTheRunAndKeepsPlaying) {
  auto clock = loaded();
  clock.play(0);
  clock.seek(150 * kSecond, 10 * kSecond);
  EXPECT_EQ(clock.now_ns(11 * kSecond), 151 * kSecond);
  clock.seek(0, 15 * kSecond);
  EXPECT_EQ(clock.now_ns(16 * kSecond), 101 * kSecond);
  clock.seek(INT64_MAX, 30 * kSecond);
  EXPECT_EQ(clock.now_ns(30 * kSecond), 160 * kSecond);
}

TEST(ReplayClock, StopsAtTheEndAndBeginsAgainWhenPlayed) {
  auto clock = loaded();
  clock.set_speed(100, 0);
  clock.play(0);
  EXPECT_EQ(clock.now_ns(INT64_MAX), 160 * kSecond);
  EXPECT_FALSE(clock.playing(10 * kSecond));
  EXPECT_TRUE(clock.at_end(10 * kSecond));
  clock.play(20 * kSecond);
  EXPECT_EQ(clock.now_ns(20 * kSecond), 100 * kSecond);
  EXPECT_TRUE(clock.playing(20 * kSecond));
}

}  // namespace
}  // namespace shardlens::app::session
