#include "profiler/nccl/call_pool.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <thread>
#include <vector>

namespace shardlens::profiler::nccl {
namespace {

NcclCallPool::Call call(std::uint64_t collective, std::int64_t called_ns = 0) {
  return {.collective = collective, .is_foreign = true, .called_ns = called_ns};
}

NcclCallPool::Call call_in_group(std::uint64_t collective) {
  return {.collective = collective, .is_in_group = true};
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

TEST(NcclCallPool, WhatIsToldAfterTheGroupHasTheLaunchThatTheGroupKnew) {
  const auto pool = std::make_unique<NcclCallPool>();
  void* handle = pool->claim(call_in_group(42));
  EXPECT_FALSE(pool->leave_group(handle, 7));
  const auto whole = pool->tell(handle, {.algorithm = 11, .channels = 8});
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->is_in_group);
  EXPECT_EQ(whole->collective, 42u);
  EXPECT_EQ(whole->launch.launch, 7u);
  EXPECT_EQ(whole->launch.algorithm, 11u);
  EXPECT_EQ(whole->launch.channels, 8);
  EXPECT_FALSE(pool->take(handle)) << "it was given back";
}

TEST(NcclCallPool, WhatIsToldBeforeTheGroupEndsIsKeptUntilThen) {
  const auto pool = std::make_unique<NcclCallPool>();
  void* handle = pool->claim(call_in_group(42));
  const auto told = pool->tell(handle, {.algorithm = 11, .channels = 8});
  ASSERT_TRUE(told);
  EXPECT_TRUE(told->is_in_group);
  EXPECT_FALSE(pool->tell(handle, {.algorithm = 12})) << "told before";
  const auto whole = pool->leave_group(handle, 7);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->collective, 42u);
  EXPECT_EQ(whole->launch.launch, 7u);
  EXPECT_EQ(whole->launch.algorithm, 11u);
  EXPECT_EQ(whole->launch.channels, 8);
  EXPECT_FALSE(pool->take(handle)) << "it was given back";
}

TEST(NcclCallPool, OfTwoThreadsThatKnowAPartEachOneHasTheWhole) {
  const auto pool = std::make_unique<NcclCallPool>();
  constexpr int kCalls = 20'000;
  std::vector<void*> handles(kCalls);
  std::atomic<int> claimed{0}, whole{0}, wrong{0};
  const auto check = [&](const NcclCallPool::Call& call) {
    ++whole;
    if (call.launch.launch != call.collective || call.launch.channels != 8) ++wrong;
  };
  std::thread teller([&] {
    for (int i = 0; i < kCalls; ++i) {
      while (claimed.load(std::memory_order_acquire) <= i) std::this_thread::yield();
      const auto told = pool->tell(handles[static_cast<std::size_t>(i)], {.channels = 8});
      if (!told) ++wrong;
      if (told && !told->is_in_group) check(*told);
    }
  });
  for (int i = 0; i < kCalls; ++i) {
    const auto number = static_cast<std::uint64_t>(i + 1);
    void* handle = nullptr;  // all slots are in use where the other thread is late
    while ((handle = pool->claim(call_in_group(number))) == nullptr) std::this_thread::yield();
    handles[static_cast<std::size_t>(i)] = handle;
    claimed.store(i + 1, std::memory_order_release);
    if (const auto left = pool->leave_group(handle, number)) check(*left);
  }
  teller.join();
  EXPECT_EQ(whole, kCalls);
  EXPECT_EQ(wrong, 0);
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
