#include "profiler/collective/captured_collectives.h"

#include <gtest/gtest.h>

namespace shardlens::profiler::collective {
namespace {

constexpr std::int64_t kTaken = 1'000;

queue::CollectiveCaptured captured(std::uint64_t handle, std::int64_t bytes = 64) {
  queue::CollectiveCaptured part;
  part.handle = handle;
  part.call.process_group = 4;
  part.call.sequence = static_cast<std::int64_t>(handle);
  part.call.bytes = bytes;
  return part;
}
queue::CapturedLaunched carried(std::uint64_t handle, std::uint64_t launch) {
  return {handle, {.launch = launch}};
}
queue::CollectiveReplay replay(std::uint64_t launch, std::int64_t number = 0) {
  return {
      .launch = launch, .number = number, .called_ns = 5, .lane = 2, .start_ns = 10, .end_ns = 20};
}

TEST(CapturedCollectives, ANumberIsOfTheReplayThenTheLaunchThenTheCollective) {
  const auto number = [](std::int64_t replay, std::int64_t place, std::int64_t index) {
    return CapturedCollectives::sequence_of(index, {.place = place, .number = replay});
  };
  constexpr std::int64_t kMostOfLaunch = CapturedCollectives::kMostOfLaunch;
  constexpr std::int64_t kMostLaunches = CapturedCollectives::kMostLaunches;
  EXPECT_EQ(number(0, 0, 0), 0);
  EXPECT_LT(number(0, 0, kMostOfLaunch - 1), number(0, 1, 0));
  EXPECT_LT(number(0, kMostLaunches - 1, kMostOfLaunch - 1), number(1, 0, 0));
  EXPECT_EQ(number(3, 3, -1), -1) << "a send";
  EXPECT_EQ(number(-1, -1, 3), -1) << "which replay it is is not sure";
  EXPECT_EQ(number(0, 0, kMostOfLaunch), -1);
  EXPECT_EQ(number(0, kMostLaunches, 0), -1);
}

TEST(CapturedCollectives, PartsMayComeInAnyOrder) {
  CapturedCollectives join(1);
  join.add(replay(7), kTaken);
  EXPECT_TRUE(join.take_finished(kTaken).empty());
  join.add(queue::CapturedLaunched{5, {.algorithm = 11, .protocol = 12, .channels = 8}});
  join.add(carried(5, 7));
  EXPECT_TRUE(join.take_finished(kTaken).empty());
  join.add(captured(5));
  const auto rows = join.take_finished(kTaken);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].rank, 1);
  EXPECT_EQ(rows[0].bytes, 64);
  EXPECT_EQ(rows[0].algorithm, 11u);
  EXPECT_EQ(rows[0].enqueued_ns, 5);
  EXPECT_TRUE(join.take_finished(kTaken).empty()) << "once";
}

TEST(CapturedCollectives, ALaterLaunchTakesThePlaceOfAnEarlierOne) {
  CapturedCollectives join(0);
  join.add(captured(5));
  join.add(captured(6));
  join.add(carried(5, 7));
  join.add(carried(6, 7));
  join.add(carried(6, 8));
  join.add(replay(7), kTaken);
  EXPECT_EQ(join.take_finished(kTaken).size(), 1u);
  join.add(replay(8), kTaken);
  EXPECT_EQ(join.take_finished(kTaken).size(), 1u);
  join.add(carried(5, queue::CollectiveLaunch::kNotFound));
  join.add(replay(7, 1), kTaken);
  EXPECT_TRUE(join.take_finished(kTaken).empty());
}

TEST(CapturedCollectives, DoNotWaitForeverForWhatWasLost) {
  CapturedCollectives join(0);
  join.add(replay(7), kTaken);
  EXPECT_TRUE(join.take_finished(kTaken + CapturedCollectives::kReplayLimitNs).empty());
  join.add(captured(5));
  join.add(carried(5, 7));
  EXPECT_TRUE(join.take_finished(kTaken + CapturedCollectives::kReplayLimitNs).empty());
}

TEST(CapturedCollectives, OfVeryManyTheOldestAreForgotten) {
  CapturedCollectives join(0);
  constexpr std::uint64_t kCount = CapturedCollectives::kMostCaptured + 1;
  for (std::uint64_t handle = 1; handle <= kCount; ++handle) {
    join.add(captured(handle));
    join.add(carried(handle, handle));
  }
  join.add(replay(1), kTaken);
  join.add(replay(2), kTaken);
  join.add(replay(kCount), kTaken);
  EXPECT_EQ(join.take_finished(kTaken).size(), 2u);
}

}  // namespace
}  // namespace shardlens::profiler::collective
