#include "profiler/nccl/call_pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace shardlens::profiler::nccl {
namespace {

NcclCallPool::Call call(std::uint64_t collective, std::int64_t called_ns = 0) {
  return {collective, true, called_ns};
}

TEST(NcclCallPool, GivesBackWhatWasClaimedOnce) {
  const auto pool = std::make_unique<NcclCallPool>();
  void* handle = pool->claim(call(42, 7));
  ASSERT_NE(handle, nullptr);
  const auto taken = pool->take(handle);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->collective, 42u);
  EXPECT_TRUE(taken->is_foreign);
  EXPECT_EQ(taken->called_ns, 7);
  EXPECT_FALSE(pool->take(handle));
  EXPECT_FALSE(pool->take(nullptr));
}

TEST(NcclCallPool, RecognisesTheHandleOfAnEarlierUseOfTheSlot) {
  const auto pool = std::make_unique<NcclCallPool>();
  void* old = pool->claim(call(1));
  pool->take(old);
  std::set<void*> handles;
  for (std::size_t i = 0; i < NcclCallPool::kSlots; ++i)
    EXPECT_TRUE(handles.insert(pool->claim(call(2))).second);
  EXPECT_FALSE(handles.contains(old));
  EXPECT_FALSE(pool->take(old));
}

TEST(NcclCallPool, TakesSlotsAgainThatWereForgotten) {
  const auto pool = std::make_unique<NcclCallPool>();
  void* first = pool->claim(call(1));
  for (std::size_t i = 1; i < NcclCallPool::kSlots; ++i) pool->claim(call(1));
  EXPECT_EQ(pool->claim(call(2, NcclCallPool::kForgottenAfterNs)), nullptr);
  void* later = pool->claim(call(2, NcclCallPool::kForgottenAfterNs + 1));
  ASSERT_NE(later, nullptr);
  EXPECT_EQ(pool->take(later)->collective, 2u);
  static_cast<void>(first);
}

TEST(NcclCallPool, NeverGivesASlotToTwoThreads) {
  const auto pool = std::make_unique<NcclCallPool>();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (std::uint64_t t = 1; t <= 4; ++t)
    threads.emplace_back([&pool, &wrong, t] {
      for (int i = 0; i < 20'000; ++i) {
        void* handle = pool->claim(call(t));
        const auto taken = handle == nullptr ? std::nullopt : pool->take(handle);
        if (!taken || taken->collective != t) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace shardlens::profiler::nccl
