#include "profiler/nccl/captured_calls.h"

#include <gtest/gtest.h>

#include "profiler/nccl/call_pool.h"

namespace shardlens::profiler::nccl {
namespace {

TEST(CapturedCalls, AreFoundAgainWithEachReplay) {
  CapturedCalls calls(3);
  void* first = calls.add(42);
  void* second = calls.add(43);
  const auto taken = calls.take(first);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->collective, 42u);
  EXPECT_FALSE(taken->is_told);
  EXPECT_TRUE(calls.take(first)->is_told) << "what NCCL chose is the same each time";
  EXPECT_EQ(calls.take(second)->collective, 43u);
}

TEST(CapturedCalls, KnowWhatIsNotOneOfTheirs) {
  CapturedCalls calls(3), other(4);
  NcclCallPool pool;
  alignas(4) char address;
  void* of_other = other.add(1);
  EXPECT_FALSE(calls.take(of_other)) << "of another recording";
  EXPECT_FALSE(calls.take(pool.claim({42, true, 7})));
  EXPECT_FALSE(calls.take(&address));
  EXPECT_FALSE(calls.take(nullptr));
  EXPECT_FALSE(pool.take(of_other));
}

TEST(CapturedCalls, AreNotMoreThanTheyMayBe) {
  CapturedCalls calls(3);
  for (std::size_t i = 0; i < CapturedCalls::kMostCalls; ++i) ASSERT_NE(calls.add(i), nullptr);
  EXPECT_EQ(calls.add(1), nullptr);
}

}  // namespace
}  // namespace shardlens::profiler::nccl
