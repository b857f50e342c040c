#include "profiler/cupti/buffer_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace shardlens::profiler::cupti {
namespace {

TEST(CuptiBufferPool, GivesEachBufferOnceAndThenNone) {
  CuptiBufferPool pool(2);
  std::set<std::uint8_t*> buffers = {pool.request(), pool.request()};
  EXPECT_EQ(buffers.size(), 2u);
  EXPECT_EQ(buffers.count(nullptr), 0u);
  EXPECT_EQ(pool.request(), nullptr);
  EXPECT_EQ(pool.request(), nullptr);
  EXPECT_EQ(pool.take_refused(), 2);
  EXPECT_EQ(pool.take_refused(), 0);
}

TEST(CuptiBufferPool, HandsOutCompletedBuffersInOrderAndZeroesThem) {
  CuptiBufferPool pool(2);
  std::uint8_t* first = pool.request();
  std::uint8_t* second = pool.request();
  std::memset(first, 0xff, 100);
  EXPECT_TRUE(pool.complete(second, 50));
  EXPECT_TRUE(pool.complete(first, 100));
  std::vector<std::pair<std::uint8_t*, std::size_t>> seen;
  pool.drain([&](std::uint8_t* buffer, std::size_t bytes) { seen.emplace_back(buffer, bytes); });
  EXPECT_EQ(seen, (std::vector<std::pair<std::uint8_t*, std::size_t>>{{second, 50}, {first, 100}}));
  std::uint8_t* again = pool.request();
  ASSERT_NE(again, nullptr);
  EXPECT_TRUE(std::all_of(again, again + 200, [](std::uint8_t byte) { return byte == 0; }));
}

TEST(CuptiBufferPool, RefusesWhatItDidNotGive) {
  CuptiBufferPool pool(1);
  std::uint8_t foreign = 0;
  EXPECT_FALSE(pool.complete(&foreign, 1));
  std::uint8_t* buffer = pool.request();
  EXPECT_TRUE(pool.complete(buffer, 1));
  EXPECT_FALSE(pool.complete(buffer, 1)) << "completed twice";
}

TEST(CuptiBufferPool, ServesThreadsWhileAnotherDrains) {
  CuptiBufferPool pool(4);
  constexpr int kThreads = 3, kRounds = 2'000;
  std::atomic<int> given{0}, finished{0};
  int drained = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < kRounds; ++i)
          if (std::uint8_t* buffer = pool.request()) {
            buffer[0] = 1;
            given += pool.complete(buffer, 1) ? 1 : 0;
          }
        ++finished;
      });
    const auto take = [&](const std::uint8_t* buffer, std::size_t) { drained += buffer[0]; };
    while (finished < kThreads) pool.drain(take);
    pool.drain(take);
  }
  EXPECT_EQ(drained, given);
  EXPECT_EQ(given + pool.take_refused(), kThreads * kRounds);
}

}  // namespace
}  // namespace shardlens::profiler::cupti
