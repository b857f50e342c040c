#include "profiler/cupti/activity_join.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/profiler/cupti/fake_sink.h"

namespace shardlens::profiler::cupti {
namespace {

constexpr std::int64_t kArrived = 1'000'000;

KernelActivity kernel(std::uint32_t correlation, std::string_view name) {
  return {{0, 1, 7}, 100, 200, correlation, 0, name};
}
ExternalActivity external(std::uint64_t id, std::uint32_t correlation) {
  return {kLaunchCorrelation, id, correlation};
}
constexpr std::string_view kReduceKernel = "_Z23ncclDevKernel_AllReduceP11ncclDevComm";

TEST(ActivityJoin, FindsTheLaunchOfAKernelInEitherOrder) {
  FakeSink sink;
  ActivityJoin join(sink);
  join.add(external(11, 1), kArrived);
  join.add(kernel(1, kReduceKernel), kArrived);
  join.add(kernel(2, kReduceKernel), kArrived);
  join.add(external(22, 2), kArrived + 200'000'000);
  EXPECT_EQ(sink.launched,
            (std::vector<std::pair<std::uint64_t, std::uint32_t>>{{11, 1}, {22, 2}}));
  EXPECT_EQ(sink.kernels, 2);
  EXPECT_EQ(join.waiting(), 0u);
}

TEST(ActivityJoin, PassesOtherKernelsOnAtOnce) {
  FakeSink sink;
  ActivityJoin join(sink);
  join.add(kernel(1, "gemm"), kArrived);
  EXPECT_EQ(sink.kernels, 1);
  EXPECT_EQ(join.waiting(), 0u);
}

TEST(ActivityJoin, DoesNotWaitForTheMarkOfAGraphsKernel) {
  FakeSink sink;
  ActivityJoin join(sink);
  KernelActivity replayed = kernel(1, kReduceKernel);
  replayed.graph_node = 9;
  join.add(replayed, kArrived);
  EXPECT_EQ(sink.kernels, 1);
  EXPECT_EQ(join.waiting(), 0u);
}

TEST(ActivityJoin, FindsTheCapturedLaunchOfAGraphsKernelByItsNode) {
  FakeSink sink;
  GraphNodes nodes;
  nodes.created(1, {11, 5});
  nodes.cloned(9, 1);
  ActivityJoin join(sink, &nodes);
  for (const std::uint64_t node : {8, 9}) {
    KernelActivity replayed = kernel(1, kReduceKernel);
    replayed.graph_node = node;
    join.add(replayed, kArrived);
  }
  join.add(LaunchActivity{5, 50, 60, 1, "cudaGraphLaunch"}, kArrived);
  join.expire(kArrived, /*all=*/true);
  EXPECT_EQ(sink.kernels, 2) << "it is a kernel, too";
  ASSERT_EQ(sink.replayed.size(), 1u);
  EXPECT_EQ(sink.replayed[0].launch, 11u);
  EXPECT_EQ(sink.replayed[0].number, 0);
  EXPECT_EQ(sink.replayed[0].called_ns, 50);
  EXPECT_TRUE(sink.launched.empty());
}

TEST(ActivityJoin, AReplayedKernelWithoutTimesIsALoss) {
  FakeSink sink;
  GraphNodes nodes;
  nodes.created(9, {11, 5});
  ActivityJoin join(sink, &nodes);
  KernelActivity replayed = kernel(1, kReduceKernel);
  replayed.graph_node = 9;
  KernelActivity timeless = replayed;
  timeless.start_ns = 0;
  join.add(timeless, kArrived);
  join.add(replayed, kArrived);
  join.expire(kArrived, /*all=*/true);
  ASSERT_EQ(sink.replayed.size(), 1u);
  EXPECT_EQ(sink.replayed[0].number, -1);
}

TEST(ActivityJoin, CountsKernelsWithoutAMarkOnlyWhereLaunchesAreMarked) {
  FakeSink sink;
  ActivityJoin join(sink);
  join.add(kernel(1, kReduceKernel), kArrived);
  const std::int64_t late = kArrived + ActivityJoin::kTimeLimitNs + 1;
  join.expire(late);
  EXPECT_EQ(sink.no_counterpart, 0) << "nobody told which launch it is of";
  join.add(external(5, 2), late);
  join.add(kernel(3, kReduceKernel), late);
  join.expire(late + ActivityJoin::kTimeLimitNs + 1);
  EXPECT_EQ(sink.no_counterpart, 1) << "a mark without a kernel is no loss";
}

TEST(ActivityJoin, IgnoresExternalIdsOfOthers) {
  FakeSink sink;
  ActivityJoin join(sink);
  join.add(ExternalActivity{CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 5, 1}, kArrived);
  EXPECT_EQ(join.waiting(), 0u);
}

TEST(ActivityJoin, GivesUpWaitingAfterItsTimeLimit) {
  FakeSink sink;
  ActivityJoin join(sink);
  join.add(kernel(1, kReduceKernel), kArrived);
  join.add(external(5, 9), kArrived);
  join.expire(kArrived + ActivityJoin::kTimeLimitNs);
  EXPECT_EQ(join.waiting(), 2u);
  join.expire(kArrived + ActivityJoin::kTimeLimitNs + 1);
  EXPECT_EQ(join.waiting(), 1u) << "the mark: its kernel may wait for another rank";
  join.expire(kArrived + ActivityJoin::kMarkLimitNs + 1);
  EXPECT_EQ(join.waiting(), 0u);
}

TEST(ActivityJoin, OfVeryManyMarksOnlyTheNewStay) {
  FakeSink sink;
  ActivityJoin join(sink);
  const auto most = static_cast<std::uint32_t>(ActivityJoin::kMostOldMarks);
  const std::int64_t later = kArrived + ActivityJoin::kTimeLimitNs + 1;
  for (std::uint32_t i = 0; i < most; ++i) join.add(external(i, i), kArrived);
  join.expire(later);
  EXPECT_EQ(join.waiting(), most);
  join.add(external(most, most), later);
  join.expire(later);
  EXPECT_EQ(join.waiting(), 1u);
}

TEST(ActivityJoin, FindsTheLaunchOfAKernelThatWaitedForMinutes) {
  FakeSink sink;
  ActivityJoin join(sink);
  join.add(external(11, 1), kArrived);
  const std::int64_t later = kArrived + 120'000'000'000;
  join.expire(later);
  join.add(kernel(1, kReduceKernel), later);
  EXPECT_EQ(sink.launched, (std::vector<std::pair<std::uint64_t, std::uint32_t>>{{11, 1}}));
}

TEST(ActivityJoin, CountsZeroAndReversedTimes) {
  FakeSink sink;
  ActivityJoin join(sink);
  join.add(KernelActivity{{0, 1, 7}, 0, 200, 1, 0, "gemm"}, kArrived);
  join.add(CopyActivity{{0, 1, 7}, 300, 200, 1, 8, "copy"}, kArrived);
  EXPECT_EQ(sink.bad, 2);
  EXPECT_EQ(sink.kernels + sink.copies, 0);
}

}  // namespace
}  // namespace shardlens::profiler::cupti
