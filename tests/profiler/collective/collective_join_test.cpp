#include "profiler/collective/collective_join.h"

#include <gtest/gtest.h>

namespace shardlens::profiler::collective {
namespace {

constexpr std::int64_t kNow = 1'000;

queue::CollectiveEntered entered(std::uint64_t handle, bool detail = true) {
  queue::CollectiveEntered part;
  part.handle = handle;
  part.call.process_group = 4;
  part.call.sequence = static_cast<std::int64_t>(handle);
  part.call.function = trace::model::CollectiveFunction::kAllReduce;
  part.call.tag_kind = trace::model::TagKind::kBucket;
  part.call.tag_index = 3;
  part.call.bytes = 4096;
  part.phase = trace::base::Phase::kBackward;
  part.detail = detail;
  part.step = 7;
  part.enqueued_ns = 100;
  return part;
}

queue::CollectiveEntered entered_by_group(std::uint64_t handle, int group, bool detail = true) {
  auto part = entered(handle, detail);
  part.call.process_group = group;
  return part;
}

// As sends and receives are, which overtake each other.
queue::CollectiveEntered entered_without_a_number(std::uint64_t handle) {
  auto part = entered(handle);
  part.call.sequence = -1;
  return part;
}

queue::CollectiveLaunched launched(std::uint64_t handle, std::uint64_t launch) {
  return {handle, {.launch = launch, .algorithm = 11, .protocol = 12, .channels = 8}};
}

TEST(CollectiveJoin, PutsItsThreePartsTogether) {
  CollectiveJoin join(1);
  join.add(entered(5), kNow);
  join.add(queue::CollectiveStarted{5, 2, 150}, kNow);
  join.add(queue::CollectiveEnded{5, 250}, kNow);
  const auto finished = join.take_finished(kNow);
  ASSERT_EQ(finished.collectives.size(), 1u);
  const trace::model::Collective& row = finished.collectives[0];
  EXPECT_EQ(row.rank, 1);
  EXPECT_EQ(row.lane, 2);
  EXPECT_EQ(row.step, 7);
  EXPECT_EQ(row.sequence, 5);
  EXPECT_EQ(row.tag_index, 3);
  EXPECT_EQ(row.phase, trace::base::Phase::kBackward);
  EXPECT_EQ(row.bytes, 4096);
  EXPECT_EQ(row.enqueued_ns, 100);
  EXPECT_EQ(row.start_ns, 150);
  EXPECT_EQ(row.end_ns, 250);
  EXPECT_TRUE(join.pending().empty());
}

TEST(CollectiveJoin, TakesThePartsInAnyOrder) {
  CollectiveJoin join(0);
  join.add(queue::CollectiveEnded{1, 250}, kNow);
  join.add(queue::CollectiveStarted{1, 2, 150}, kNow);
  EXPECT_TRUE(join.take_finished(kNow).collectives.empty());
  join.add(entered(1), kNow);
  const auto finished = join.take_finished(kNow);
  ASSERT_EQ(finished.collectives.size(), 1u);
  EXPECT_EQ(finished.collectives[0].start_ns, 150);
}

TEST(CollectiveJoin, WaitsOneDrainForALateStart) {
  CollectiveJoin join(0);
  join.add(entered(1), kNow);
  join.add(queue::CollectiveEnded{1, 250}, kNow);
  EXPECT_TRUE(join.take_finished(kNow).collectives.empty());
  EXPECT_TRUE(join.pending().empty()) << "it has ended";
  join.add(queue::CollectiveStarted{1, 2, 150}, kNow);
  const auto finished = join.take_finished(kNow);
  ASSERT_EQ(finished.collectives.size(), 1u);
  EXPECT_EQ(finished.collectives[0].start_ns, 150);
}

TEST(CollectiveJoin, WithoutAStartBeginsWhenTheHostAsked) {
  CollectiveJoin join(0);
  join.add(entered(1), kNow);
  join.add(queue::CollectiveEnded{1, 250}, kNow);
  join.take_finished(kNow);
  const auto finished = join.take_finished(kNow);
  ASSERT_EQ(finished.collectives.size(), 1u);
  EXPECT_EQ(finished.collectives[0].start_ns, 100);
}

TEST(CollectiveJoin, ListsWhatIsPendingInTheOrderOfEntering) {
  CollectiveJoin join(0);
  join.add(entered(2), kNow);
  join.add(entered(1), kNow);
  join.add(queue::CollectiveStarted{1, 2, 150}, kNow);
  const auto pending = join.pending();
  ASSERT_EQ(pending.size(), 2u);
  EXPECT_EQ(pending[0].sequence, 1);
  EXPECT_EQ(pending[1].sequence, 2);
  EXPECT_EQ(pending[1].bytes, 4096);
  EXPECT_EQ(pending[1].step, 7);
}

TEST(CollectiveJoin, OnlyCountsThoseWithoutDetail) {
  CollectiveJoin join(0);
  join.add(entered(1, false), kNow);
  join.add(queue::CollectiveStarted{1, 2, 150}, kNow);
  EXPECT_EQ(join.pending().size(), 1u);
  join.add(queue::CollectiveEnded{1, 250}, kNow);
  const auto finished = join.take_finished(kNow);
  EXPECT_TRUE(finished.collectives.empty());
  EXPECT_EQ(finished.undetailed, 1);
}

TEST(CollectiveJoin, ForgetsPartsWhoseEnteringWasLost) {
  CollectiveJoin join(0);
  join.add(queue::CollectiveEnded{1, 250}, kNow);
  join.add(entered(2), kNow);
  EXPECT_EQ(join.drop_incomplete(kNow + 1'000'000'000), 0);
  EXPECT_EQ(join.drop_incomplete(kNow + 11'000'000'000), 1);
  EXPECT_EQ(join.pending().size(), 1u) << "a hanging collective is never forgotten";
}

TEST(CollectiveJoin, ForgetsWhatHasNotEndedAlthoughALaterOneOfItsGroupHas) {
  CollectiveJoin join(0);
  join.add(entered(1), kNow);
  join.add(entered_by_group(2, 1), kNow);
  join.add(entered(3), kNow);
  join.add(entered(4), kNow);
  join.add(queue::CollectiveStarted{3, 2, 150}, kNow);
  join.add(queue::CollectiveEnded{3, 250}, kNow);
  EXPECT_EQ(join.take_finished(kNow).collectives.size(), 1u);
  EXPECT_EQ(join.drop_incomplete(kNow), 0) << "its end may come with the next drain";
  EXPECT_EQ(join.drop_incomplete(kNow), 1);
  const auto pending = join.pending();
  ASSERT_EQ(pending.size(), 2u);
  EXPECT_EQ(pending[0].sequence, 2);
  EXPECT_EQ(pending[1].sequence, 4);
}

TEST(CollectiveJoin, TellsTheLatestOfEachGroupIfItWasNotRecorded) {
  CollectiveJoin join(0);
  const auto complete = [&join](std::uint64_t handle, bool detail, int group) {
    join.add(entered_by_group(handle, group, detail), kNow);
    join.add(queue::CollectiveStarted{handle, 2, 150}, kNow);
    join.add(queue::CollectiveEnded{handle, 250}, kNow);
  };
  complete(1, false, 0);
  complete(2, false, 0);
  complete(3, false, 1);
  complete(4, true, 1);
  join.take_finished(kNow);
  EXPECT_TRUE(join.pending().empty());
  const auto latest = join.latest_undetailed();
  ASSERT_EQ(latest.size(), 1u) << "group 1 has a later one that was recorded";
  EXPECT_EQ(latest[0].sequence, 2);
  EXPECT_EQ(latest[0].bytes, 4096);
  EXPECT_EQ(latest[0].end_ns, 250);
}

TEST(CollectiveJoin, PrefersTheKernelsTimesToWhatTheHostObserved) {
  CollectiveJoin join(0);
  join.add(entered(1), kNow);
  join.add(launched(1, 70), kNow);
  join.add(queue::CollectiveObserved{1, {2, 120, 900}}, kNow);
  EXPECT_TRUE(join.pending().empty()) << "the host has seen it end";
  EXPECT_TRUE(join.take_finished(kNow).collectives.empty());
  join.add(queue::LaunchEnded{70, {5, 150, 250}}, kNow);
  const auto finished = join.take_finished(kNow + 200'000'000);
  ASSERT_EQ(finished.collectives.size(), 1u);
  const trace::model::Collective& row = finished.collectives[0];
  EXPECT_EQ(row.lane, 5);
  EXPECT_EQ(row.start_ns, 150);
  EXPECT_EQ(row.end_ns, 250);
  EXPECT_EQ(row.algorithm, 11u);
  EXPECT_EQ(row.protocol, 12u);
  EXPECT_EQ(row.channels, 8);
}

TEST(CollectiveJoin, FallsBackToTheHostOnlyWhenTheKernelDoesNotComeInTime) {
  CollectiveJoin join(0);
  join.add(entered(1), kNow);
  join.add(launched(1, 70), kNow);
  join.add(queue::CollectiveObserved{1, {2, 120, 900}}, kNow);
  const std::int64_t limit = kNow + CollectiveJoin::kKernelLimitNs;
  join.add(queue::LaunchEnded{71, {5, 950, 990}}, kNow);  // of a later launch
  EXPECT_TRUE(join.take_finished(limit - 1).collectives.empty());
  const auto finished = join.take_finished(limit);
  ASSERT_EQ(finished.collectives.size(), 1u);
  EXPECT_EQ(finished.collectives[0].start_ns, 120);
  EXPECT_EQ(finished.collectives[0].end_ns, 900);
  EXPECT_EQ(finished.collectives[0].algorithm, 11u) << "NCCL's choice is known all the same";
  join.add(queue::LaunchEnded{70, {5, 150, 250}}, limit);
  EXPECT_TRUE(join.take_finished(limit).collectives.empty()) << "one row is enough";
}

// CUPTI hands over full buffers: with long kernels seconds pass without any.
TEST(CollectiveJoin, WaitsLongerForAKernelWhileNoneOfALaterLaunchHasCome) {
  CollectiveJoin join(0);
  for (const std::uint64_t handle : {1, 2}) {
    join.add(entered(handle), kNow);
    join.add(launched(handle, 70 + handle), kNow);
    join.add(queue::CollectiveObserved{handle, {2, 120, 900}}, kNow);
  }
  const std::int64_t later = kNow + 3 * CollectiveJoin::kKernelLimitNs;
  join.add(queue::LaunchEnded{70, {5, 10, 20}}, later);  // of an earlier one
  EXPECT_TRUE(join.take_finished(later).collectives.empty());
  join.add(queue::LaunchEnded{71, {5, 150, 250}}, later);
  const auto finished = join.take_finished(later);
  ASSERT_EQ(finished.collectives.size(), 1u);
  EXPECT_EQ(finished.collectives[0].end_ns, 250);
  const std::int64_t limit = kNow + CollectiveJoin::kLongestKernelLimitNs;
  EXPECT_TRUE(join.take_finished(limit - 1).collectives.empty());
  EXPECT_EQ(join.take_finished(limit).collectives.size(), 1u) << "not for ever";
}

TEST(CollectiveJoin, WaitsNoLongerWhereTooManyWait) {
  CollectiveJoin join(0);
  for (std::uint64_t handle = 1; handle <= CollectiveJoin::kMostWaiting + 1; ++handle) {
    join.add(entered(handle), kNow);
    join.add(launched(handle, handle), kNow);
    join.add(queue::CollectiveObserved{handle, {2, 120, 900}}, kNow);
  }
  const std::int64_t limit = kNow + CollectiveJoin::kKernelLimitNs;
  EXPECT_TRUE(join.take_finished(limit - 1).collectives.empty());
  EXPECT_EQ(join.take_finished(limit).collectives.size(), CollectiveJoin::kMostWaiting + 1);
}

TEST(CollectiveJoin, TakesTheDetailOfItsTimeWhereTheStepIsKnownLater) {
  CollectiveJoin join(0, [](std::int64_t time_ns) { return time_ns >= 1'000; });
  for (const std::uint64_t handle : {1, 2}) {
    join.add(entered(handle, /*detail=*/handle == 1), kNow);
    const auto start_ns = static_cast<std::int64_t>(handle) * 600;
    join.add(queue::CollectiveStarted{handle, 2, start_ns}, kNow);
    join.add(queue::CollectiveEnded{handle, start_ns + 10}, kNow);
  }
  const auto finished = join.take_finished(kNow);
  ASSERT_EQ(finished.collectives.size(), 1u);
  EXPECT_EQ(finished.collectives[0].start_ns, 1'200);
  EXPECT_EQ(finished.undetailed, 1);
}

TEST(CollectiveJoin, TakesWhatTheHostObservedAfterOneDrainWhereNoLaunchIsKnown) {
  CollectiveJoin join(0);
  join.add(entered(1), kNow);
  join.add(queue::CollectiveObserved{1, {2, 120, 900}}, kNow);
  EXPECT_TRUE(join.take_finished(kNow).collectives.empty()) << "the launch may be in a later queue";
  ASSERT_EQ(join.take_finished(kNow).collectives.size(), 1u);
}

TEST(CollectiveJoin, DoesNotWaitForTheKernelOfALaunchWithoutANumber) {
  CollectiveJoin join(0);
  join.add(entered(1), kNow);
  join.add(launched(1, 0), kNow);
  join.add(queue::CollectiveObserved{1, {2, 120, 900}}, kNow);
  join.take_finished(kNow);
  const auto finished = join.take_finished(kNow);
  ASSERT_EQ(finished.collectives.size(), 1u);
  EXPECT_EQ(finished.collectives[0].channels, 8);
}

TEST(CollectiveJoin, GivesAllCollectivesOfOneLaunchTheTimesOfItsKernelInEitherOrder) {
  CollectiveJoin join(0);
  join.add(entered(1), kNow);
  join.add(launched(1, 70), kNow);
  join.add(queue::LaunchEnded{70, {5, 150, 250}}, kNow);
  join.add(entered(2), kNow);
  join.add(launched(2, 70), kNow);
  const auto finished = join.take_finished(kNow);
  ASSERT_EQ(finished.collectives.size(), 2u);
  for (const trace::model::Collective& row : finished.collectives) {
    EXPECT_EQ(row.start_ns, 150);
    EXPECT_EQ(row.end_ns, 250);
  }
}

TEST(CollectiveJoin, PutsTheKernelsOfSeveralLaunchesAroundOneCollective) {
  CollectiveJoin join(0);
  join.add(entered(1), kNow);
  join.add(launched(1, 70), kNow);
  join.add(launched(1, 71), kNow);
  join.add(queue::LaunchEnded{71, {5, 300, 400}}, kNow);
  EXPECT_TRUE(join.take_finished(kNow).collectives.empty());
  EXPECT_EQ(join.pending().size(), 1u);
  join.add(queue::LaunchEnded{70, {5, 150, 250}}, kNow);
  const auto finished = join.take_finished(kNow);
  ASSERT_EQ(finished.collectives.size(), 1u);
  EXPECT_EQ(finished.collectives[0].start_ns, 150);
  EXPECT_EQ(finished.collectives[0].end_ns, 400);
}

TEST(CollectiveJoin, WaitsForAKernelThatALaterOneHasOvertakenButNotForEver) {
  CollectiveJoin join(0);
  for (const std::uint64_t handle : {1, 2}) {
    join.add(entered_without_a_number(handle), kNow);
    join.add(launched(handle, 70 + handle), kNow);
  }
  join.add(queue::LaunchEnded{72, {5, 150, 250}}, kNow);
  EXPECT_EQ(join.take_finished(kNow).collectives.size(), 1u);
  EXPECT_EQ(join.drop_incomplete(kNow), 0);
  EXPECT_EQ(join.drop_incomplete(kNow + CollectiveJoin::kKernelLimitNs - 1), 0);
  EXPECT_EQ(join.drop_incomplete(kNow + CollectiveJoin::kKernelLimitNs), 1);
  EXPECT_TRUE(join.pending().empty());
}

TEST(CollectiveJoin, ForgetsASendThatWasNeverLaunchedOnceALaterOneHasEnded) {
  CollectiveJoin join(0);
  for (const std::uint64_t handle : {1, 2}) join.add(entered_without_a_number(handle), kNow);
  join.add(launched(2, 70), kNow);
  join.add(queue::LaunchEnded{70, {5, 150, 250}}, kNow);
  EXPECT_EQ(join.take_finished(kNow).collectives.size(), 1u);
  EXPECT_EQ(join.drop_incomplete(kNow), 0);
  EXPECT_EQ(join.drop_incomplete(kNow + CollectiveJoin::kKernelLimitNs), 1);
  EXPECT_TRUE(join.pending().empty());
}

// Another profiler took CUPTI over, or NCCL runs the calls in a way that it does not tell of.
TEST(CollectiveJoin, ForgetsWhatHasNoKernelOnceTheHostIsFarBeyondIt) {
  CollectiveJoin join(0);
  join.add(entered(1), kNow);
  join.add(launched(1, 70), kNow);
  join.add(entered(2), kNow);
  join.add(entered_by_group(3, 9), kNow);
  const std::int64_t later = kNow + CollectiveJoin::kAheadLimitNs;
  join.add(entered(4), later);
  EXPECT_EQ(join.drop_incomplete(later), 0);
  join.add(entered(5), later + 1);
  EXPECT_EQ(join.drop_incomplete(later + 1), 0) << "its kernel may be on its way";
  EXPECT_EQ(join.drop_incomplete(later + CollectiveJoin::kKernelLimitNs), 0);
  EXPECT_EQ(join.drop_incomplete(later + 1 + CollectiveJoin::kKernelLimitNs), 2);
  EXPECT_EQ(join.pending().size(), 3u) << "one of another group and two that are new";
}

// The others waited in it while one rank wrote a checkpoint: the very one to be looked at.
TEST(CollectiveJoin, KeepsWhatHeldTheHostUpForLongUntilItsKernelIsReported) {
  CollectiveJoin join(0);
  join.add(entered(1), kNow);
  join.add(launched(1, 70), kNow);
  const std::int64_t later = kNow + 2 * CollectiveJoin::kAheadLimitNs;
  join.add(entered(2), later);  // the next step begins before CUPTI is asked again
  EXPECT_EQ(join.drop_incomplete(later), 0);
  join.add(queue::LaunchEnded{70, {5, 150, later - 1}}, later + 1);
  EXPECT_EQ(join.take_finished(later + 1).collectives.size(), 1u);
  EXPECT_EQ(join.drop_incomplete(later + 1), 0);
}

TEST(CollectiveJoin, KeepsWhatTheHostWaitsForHoweverLong) {
  CollectiveJoin join(0);
  join.add(entered(1), kNow);
  join.add(launched(1, 70), kNow);
  join.add(entered(2), kNow + 1'000'000);  // asked for before the host began to wait
  EXPECT_EQ(join.drop_incomplete(kNow + 100 * CollectiveJoin::kAheadLimitNs), 0);
  EXPECT_EQ(join.pending().size(), 2u);
}

TEST(CollectiveJoin, GivesAtTheEndWhatStillWaitsForAKernel) {
  CollectiveJoin join(0);
  join.add(entered(1), kNow);
  join.add(launched(1, 70), kNow);
  join.add(queue::CollectiveObserved{1, {2, 120, 900}}, kNow);
  EXPECT_TRUE(join.take_finished(kNow).collectives.empty());
  join.stop_waiting();
  EXPECT_EQ(join.take_finished(kNow).collectives.size(), 1u);
}

}  // namespace
}  // namespace shardlens::profiler::collective
