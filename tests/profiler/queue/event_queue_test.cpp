#include "profiler/queue/event_queue.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace shardlens::profiler::queue {
namespace {

std::vector<int> drained(EventQueue<int>& queue) {
  std::vector<int> values;
  queue.drain([&](int value) { values.push_back(value); });
  return values;
}

TEST(EventQueue, HandsOutWhatWasPushedInOrder) {
  EventQueue<int> queue(8);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(queue.push(i));
  EXPECT_EQ(drained(queue), (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_TRUE(drained(queue).empty());
}

TEST(EventQueue, RoundsItsCapacityUpToAPowerOfTwo) {
  EXPECT_EQ(EventQueue<int>(5).capacity(), 8u);
  EXPECT_EQ(EventQueue<int>(8).capacity(), 8u);
  EXPECT_EQ(EventQueue<int>(1).capacity(), 1u);
}

TEST(EventQueue, CountsWhatFindsNoRoomAndKeepsTheOldest) {
  EventQueue<int> queue(4);
  int refused = 0;
  for (int i = 0; i < 10; ++i) refused += queue.push(i) ? 0 : 1;
  EXPECT_EQ(refused, 6);
  EXPECT_EQ(drained(queue), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(queue.take_lost(), 6);
  EXPECT_EQ(queue.take_lost(), 0);
}

TEST(EventQueue, WrapsAroundManyTimes) {
  EventQueue<int> queue(4);
  int next = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.push(3 * round + i));
    queue.drain([&](int value) { ASSERT_EQ(value, next++); });
  }
  EXPECT_EQ(next, 300);
}

TEST(EventQueue, LosesNothingSilentlyBetweenTwoThreads) {
  constexpr std::int64_t kCount = 200'000;
  EventQueue<std::int64_t> queue(1024);
  std::jthread producer([&] {
    for (std::int64_t i = 0; i < kCount; ++i) queue.push(i);
  });
  std::int64_t taken = 0, lost = 0, last = -1;
  bool ordered = true;
  while (taken + lost < kCount) {
    queue.drain([&](std::int64_t value) {
      ordered &= value > last;
      last = value;
      ++taken;
    });
    lost += queue.take_lost();
  }
  EXPECT_TRUE(ordered);
  EXPECT_EQ(taken + lost, kCount);
  EXPECT_GT(taken, 0);
}

}  // namespace
}  // namespace shardlens::profiler::queue
