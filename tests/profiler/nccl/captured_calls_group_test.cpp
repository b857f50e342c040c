#include <gtest/gtest.h>

#include "profiler/nccl/captured_calls.h"

namespace shardlens::profiler::nccl {
namespace {

using Collectives = std::vector<std::uint64_t>;

TEST(CapturedGroup, OneLaunchCarriesAllCalls) {
  CapturedGroup group;
  EXPECT_FALSE(group.is_open());
  group.add_call(1, true);
  group.add_call(2, true);
  EXPECT_TRUE(group.is_open());
  const auto carried = group.begin_launch();
  EXPECT_TRUE(carried.is_known);
  EXPECT_EQ(carried.collectives, (Collectives{1, 2}));
  group.add_call(3, true);
  EXPECT_EQ(group.begin_launch().collectives, Collectives{3}) << "of the next group";
  group.end();
  EXPECT_FALSE(group.is_open());
}

TEST(CapturedGroup, ALaunchLeavesTheNextWhatItWasNotToldToCarry) {
  CapturedGroup group;
  for (const std::uint64_t call : {1, 2, 3}) group.add_call(call, true);
  group.begin_launch();
  group.tell(1);
  group.tell(3);
  const auto carried = group.begin_launch();
  EXPECT_TRUE(carried.is_known);
  EXPECT_EQ(carried.collectives, Collectives{2});
}

// As across machines.
TEST(CapturedGroup, OfTwoLaunchesThatAreToldNothingNoneIsSure) {
  CapturedGroup group;
  for (const std::uint64_t call : {1, 2, 3}) group.add_call(call, true);
  EXPECT_TRUE(group.begin_launch().is_known);
  const auto carried = group.begin_launch();
  EXPECT_FALSE(carried.is_known);
  EXPECT_EQ(carried.collectives, (Collectives{1, 2, 3}));
  group.tell(2);
  EXPECT_TRUE(group.begin_launch().collectives.empty()) << "it may carry any of them";
}

TEST(CapturedGroup, IsCountedWithAllRanksIfAllMakeItsCalls) {
  CapturedGroup group;
  group.add_call(1, true);
  EXPECT_EQ(group.counting(), CapturedGroup::Counting::kWithAllRanks);
  group.add_call(2, false);
  EXPECT_EQ(group.counting(), CapturedGroup::Counting::kUnsure);
  group.begin_launch();
  EXPECT_TRUE(group.starts_anew());
  group.add_call(3, false);
  EXPECT_EQ(group.counting(), CapturedGroup::Counting::kNot);
}

}  // namespace
}  // namespace shardlens::profiler::nccl
