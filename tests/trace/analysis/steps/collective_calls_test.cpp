#include "trace/analysis/steps/collective_calls.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/trace/analysis/clocks_apart.h"

namespace shardlens::trace::analysis {
namespace {

CollectivePart part(int group, int first, std::int64_t sequence, int rank, std::int64_t start_ns) {
  return {group, first, sequence, model::CollectiveFunction::kAllReduce,
          rank,  0,     start_ns, start_ns + 10'000};
}

std::optional<std::int64_t> wait(const CollectiveCalls& calls, const CollectivePart& like) {
  return calls.wait_of(like, 2).wait_ns;
}

TEST(CollectiveCalls, KnowWhoCameLast) {
  const CollectiveCalls calls(
      {part(0, 0, 7, 1, 130), part(0, 0, 7, 0, 100), part(0, 0, 8, 0, 200)});
  EXPECT_EQ(wait(calls, part(0, 0, 7, 0, 100)), 30);
  EXPECT_EQ(calls.wait_of(part(0, 0, 7, 0, 100), 2).transfer_ns, 9'970);
  EXPECT_EQ(wait(calls, part(0, 0, 7, 1, 130)), 0);
  EXPECT_EQ(calls.wait_of(part(0, 0, 7, 1, 130), 2).transfer_ns, 10'000);
  const auto same = calls.same_call(part(0, 0, 7, 1, 130));
  ASSERT_EQ(same.size(), 2u);
  EXPECT_EQ(same[0].rank, 0);
  EXPECT_EQ(same[1].rank, 1);
}

TEST(CollectiveCalls, AWaitThatClocksMayHaveMadeIsNone) {
  CollectiveCalls calls({part(0, 0, 7, 1, 130), part(0, 0, 7, 0, 100)});
  calls.doubt_waits(clocks_apart(30));
  EXPECT_FALSE(wait(calls, part(0, 0, 7, 0, 100)));
  EXPECT_FALSE(wait(calls, part(0, 0, 7, 1, 130))) << "nor was it the last";
  EXPECT_FALSE(calls.wait_of(part(0, 0, 7, 1, 130), 2).transfer_ns);
  calls.doubt_waits(clocks_apart(29));
  EXPECT_EQ(wait(calls, part(0, 0, 7, 0, 100)), 30);
  EXPECT_EQ(wait(calls, part(0, 0, 7, 1, 130)), 0);
}

TEST(CollectiveCalls, ARankThatHadLeftWaitedForNobodyAndMovedNothingWithTheLast) {
  CollectivePart root = part(0, 0, 7, 0, 100), other = part(0, 0, 7, 1, 130);
  root.end_ns = 120;  // a broadcast's root sends and goes on
  root.function = other.function = model::CollectiveFunction::kBroadcast;
  CollectiveCalls calls({root, other});
  for (const std::int64_t error_ns : {0, 10}) {
    calls.doubt_waits(clocks_apart(error_ns));
    EXPECT_TRUE(calls.wait_of(root, 2).has_left);
    EXPECT_EQ(calls.wait_of(root, 2).wait_ns, 0);
    EXPECT_FALSE(calls.wait_of(root, 2).transfer_ns);
    EXPECT_EQ(calls.wait_of(root, 2).doubt, WaitDoubt::kNone);
    EXPECT_FALSE(calls.wait_of(other, 2).has_left);
    EXPECT_EQ(calls.wait_of(other, 2).transfer_ns, 10'000);
  }
  for (const std::int64_t error_ns : {11, 30}) {
    calls.doubt_waits(clocks_apart(error_ns));
    EXPECT_FALSE(calls.wait_of(root, 2).has_left) << "the other may have come before it left";
    EXPECT_FALSE(calls.wait_of(root, 2).wait_ns);
    EXPECT_EQ(calls.wait_of(root, 2).doubt, WaitDoubt::kClockError);
  }
  calls.doubt_waits({});
  root.end_ns = 131;
  EXPECT_EQ(calls.wait_of(root, 2).wait_ns, 30);
  EXPECT_EQ(calls.wait_of(root, 2).transfer_ns, 1);
}

TEST(CollectiveCalls, WithoutTimesNobodyIsKnownToHaveComeLast) {
  CollectivePart asked = part(0, 0, 7, 1, 130);
  asked.end_ns = asked.start_ns;
  const CollectiveCalls calls({asked, part(0, 0, 7, 0, 100)});
  EXPECT_FALSE(wait(calls, part(0, 0, 7, 0, 100)));
  EXPECT_FALSE(wait(calls, asked));
}

TEST(CollectiveCalls, SayWhyAWaitIsNotKnown) {
  CollectiveCalls calls({part(0, 0, 7, 1, 130), part(0, 0, 7, 0, 100)});
  CollectivePart own = part(0, 0, 7, 0, 100);
  EXPECT_EQ(calls.wait_of(own, 3).doubt, WaitDoubt::kRecordsMissing) << "of a third rank";
  EXPECT_FALSE(calls.has_all_ranks(own, 3));
  EXPECT_FALSE(calls.wait_of(own, 3).wait_ns);
  own.members = 2;
  EXPECT_EQ(calls.wait_of(own, 3).wait_ns, 30);
  calls.doubt_waits(clocks_apart(30));
  EXPECT_EQ(calls.wait_of(own, 3).doubt, WaitDoubt::kClockError);
  EXPECT_FALSE(calls.wait_of(own, 3).wait_ns);
  calls.doubt_waits(unknown_clocks());
  EXPECT_EQ(calls.wait_of(own, 3).doubt, WaitDoubt::kClocksUnknown);
  EXPECT_FALSE(wait(calls, own));
  EXPECT_FALSE(wait(calls, part(0, 0, 7, 1, 130)));
  own.members = 1;
  EXPECT_EQ(calls.wait_of(own, 3).wait_ns, 0) << "alone in its group";
}

// Rank 1's clock is 700 µs ahead, by which it began the last call after rank 0 had ended it.
TEST(CollectiveCalls, ARankCannotHaveLeftWhatEndsAfterAllBegan) {
  constexpr std::int64_t kUs = 1000, kAhead = 700 * kUs;
  ClockMeetings meetings;
  for (std::int64_t at = 0; at < 64'000 * kUs; at += 1000 * kUs) {
    meetings.add(model::CollectiveFunction::kAllReduce, {0, at, at + 100 * kUs},
                 {1, at + kAhead, at + kAhead + 100 * kUs});
  }
  CollectivePart own = part(0, 0, 7, 0, 100), late = part(0, 0, 7, 1, 100 + 5'700 * kUs);
  own.end_ns = own.start_ns + 5'100 * kUs;
  late.end_ns = late.start_ns + 100 * kUs;
  CollectiveCalls calls({own, late});
  const std::vector<RankHost> hosts{{0, "a"}, {1, "b"}};
  for (const HostClocks& clocks : {meetings.clocks(hosts), HostClocks{}}) {
    calls.doubt_waits(clocks);
    const CallWait told = calls.wait_of(own, 2);
    EXPECT_EQ(told.wait_ns, 5'100 * kUs) << "no longer than it was in the call";
    EXPECT_FALSE(told.transfer_ns);
    EXPECT_FALSE(told.has_left);
    EXPECT_EQ(told.doubt, WaitDoubt::kNone);
  }
}

// A wait that is longer than the clocks are apart is one; what lies between two clocks is no
// transfer.
TEST(CollectiveCalls, OfClocksThatCallsContradictTellWaitsButNoTransfer) {
  constexpr std::int64_t kAhead = 700'000;
  ClockMeetings meetings;
  for (int call = 0; call < 64; ++call) {
    const std::int64_t at = call * std::int64_t{1'000'000};
    meetings.add(model::CollectiveFunction::kAllReduce, {0, at, at + 1000},
                 {1, at + kAhead, at + kAhead + 1000});
  }
  CollectivePart own = part(0, 0, 7, 0, 100);
  own.end_ns = 5'010'000;
  CollectiveCalls calls({own, part(0, 0, 7, 1, 5'000'000)});
  EXPECT_EQ(calls.wait_of(own, 2).transfer_ns, 10'000);
  calls.doubt_waits(meetings.clocks(std::vector<RankHost>{{0, "a"}, {1, "b"}}));
  EXPECT_EQ(wait(calls, own), 4'999'900);
  EXPECT_FALSE(calls.wait_of(own, 2).transfer_ns);
  EXPECT_FALSE(calls.wait_of(own, 2).has_left);
  calls.doubt_waits(clocks_apart(30));
  EXPECT_EQ(calls.wait_of(own, 2).transfer_ns, 10'000);
}

TEST(CollectiveCalls, AreNoSendsAndReceives) {
  for (const auto function :
       {model::CollectiveFunction::kSend, model::CollectiveFunction::kReceive}) {
    CollectivePart own = part(0, 0, 7, 0, 100), other = part(0, 0, 7, 1, 130);
    own.function = other.function = function;
    EXPECT_TRUE(CollectiveCalls({own, other}).same_call(own).empty());
  }
}

TEST(CollectiveCalls, SayNothingWhereNoOtherRankIsKnown) {
  const CollectiveCalls calls({part(0, 0, 8, 0, 200), part(0, 0, -1, 0, 5), part(0, 0, -1, 1, 6)});
  EXPECT_FALSE(wait(calls, part(0, 0, 8, 0, 200)));
  EXPECT_FALSE(wait(calls, part(0, 0, -1, 0, 5)));
}

TEST(CollectiveCalls, GroupsOfOtherRanksWithTheSameNumberAreNotMixed) {
  const CollectiveCalls calls(
      {part(1, 0, 3, 0, 10), part(1, 0, 3, 1, 12), part(1, 2, 3, 2, 90), part(1, 2, 3, 3, 95)});
  EXPECT_EQ(wait(calls, part(1, 0, 3, 1, 12)), 0);
  EXPECT_EQ(wait(calls, part(1, 2, 3, 2, 90)), 5);
}

TEST(CollectiveCalls, AreFoundWhereRowsHaveMovedSince) {
  CollectivePart first = part(0, 0, 1, 0, 5), second = part(0, 0, 2, 0, 50);
  second.index = 1;
  CollectivePart other = part(0, 0, 2, 1, 60);
  other.index = 4;
  const CollectiveCalls calls({second, first, other});
  EXPECT_EQ(wait(calls, second), 10);
  second.index = 0;  // the other one's place
  EXPECT_EQ(wait(calls, second), 10);
  second.index = 9;
  EXPECT_EQ(wait(calls, second), 10);
  EXPECT_EQ(calls.same_call(first).size(), 1u);
}

CallWait moved(std::int64_t wait_ns, std::int64_t transfer_ns) {
  return {wait_ns, transfer_ns, false, WaitDoubt::kNone};
}

TEST(TransferSums, AreOfWhatBytesTookInTheMiddleCall) {
  TransferSums sums;
  EXPECT_EQ(sums.algbw_bytes_per_s(), 0);
  EXPECT_TRUE(sums.add(moved(5, 100), 1000, 1.5));    // 10 GB/s
  EXPECT_TRUE(sums.add(moved(0, 1000), 1000, 0.75));  // 1 GB/s
  EXPECT_TRUE(sums.add(moved(1, 100), 4000, 2));      // 40 GB/s
  EXPECT_FALSE(sums.add(moved(7, 0), 1000, 1)) << "nothing moved";
  EXPECT_FALSE(sums.add({7, {}, false, WaitDoubt::kNone}, 1000, 1)) << "it had left";
  EXPECT_FALSE(sums.add({}, 1000, 1));
  EXPECT_EQ(sums.matched(), 3);
  EXPECT_EQ(sums.wait_ns(), 6);
  EXPECT_EQ(sums.transfer_ns(), 1200);
  EXPECT_DOUBLE_EQ(sums.algbw_bytes_per_s(), 10e9);
  EXPECT_DOUBLE_EQ(sums.busbw_bytes_per_s(), 15e9);
  sums.add(moved(0, 100), 0, 1);
  EXPECT_DOUBLE_EQ(sums.algbw_bytes_per_s(), 10e9) << "a barrier's bytes tell no speed";
  sums.add(moved(0, 100), model::kNotKnown, 1);
  EXPECT_EQ(sums.matched(), 5);
  EXPECT_EQ(sums.algbw_bytes_per_s(), 0) << "not all sizes are known";
  EXPECT_EQ(sums.busbw_bytes_per_s(), 0);
  constexpr auto kHighest = std::numeric_limits<std::int64_t>::max();
  sums.add(moved(kHighest, kHighest), 1, 1);
  EXPECT_EQ(sums.wait_ns(), kHighest);
  EXPECT_EQ(sums.transfer_ns(), kHighest);
}

TEST(CollectiveCalls, ARankTakesPartOnce) {
  const CollectiveCalls calls({part(0, 0, 1, 0, 5), part(0, 0, 1, 0, 900), part(0, 0, 1, 1, 7)});
  EXPECT_EQ(calls.same_call(part(0, 0, 1, 0, 5)).size(), 2u);
  EXPECT_EQ(wait(calls, part(0, 0, 1, 0, 5)), 2);
}

}  // namespace
}  // namespace shardlens::trace::analysis
