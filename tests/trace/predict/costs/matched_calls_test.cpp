#include "trace/predict/costs/matched_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "trace/base/intervals.h"

namespace shardlens::trace::predict {
namespace {

using testing::ElementsAre;

model::Collective call(int rank, std::int64_t sequence, std::int64_t start_ns,
                       std::int64_t end_ns) {
  model::Collective row;
  row.rank = rank;
  row.sequence = sequence;
  row.function = model::CollectiveFunction::kAllReduce;
  row.bytes = 100;
  row.start_ns = start_ns;
  row.end_ns = end_ns;
  return row;
}

std::vector<double> transfers(const MatchedCalls& calls) {
  const auto measured = calls.measured([](const auto&, const auto&) { return true; });
  return measured.empty() ? std::vector<double>{} : measured.begin()->second.at(100);
}

TEST(MatchedCalls, CountFromTheLastRanksStartOn) {
  MatchedCalls calls(2);
  calls.add(call(0, 0, 10, 50));
  EXPECT_TRUE(transfers(calls).empty()) << "one rank's";
  calls.add(call(1, 0, 30, 52));
  EXPECT_THAT(transfers(calls), ElementsAre(22));
  calls.add(call(0, 1, 60, 65));
  calls.add(call(1, 1, 61, 66));
  EXPECT_THAT(transfers(calls), ElementsAre(22, 5));
}

TEST(MatchedCalls, ShareTheTimeInWhichAGroupCarriesOutSeveral) {
  MatchedCalls calls(1);
  calls.add(call(0, 0, 0, 100));
  calls.add(call(0, 1, 40, 60));
  calls.add(call(0, 2, 100, 130));
  calls.add(call(0, 3, 110, 110));
  EXPECT_THAT(transfers(calls), ElementsAre(90, 10, 30, 0));
}

// A gather of 100 ns and, of another group, a sum that began 30 ns later: the link lets it pass
// when it has sent the first, 70 ns later, so that what took 170 ns takes 100.
TEST(MatchedCalls, WaitForTheLinkThatTheyShareIsNoCost) {
  MatchedCalls calls(2);
  for (const int rank : {0, 1}) {
    for (const int group : {0, 1}) {
      model::ProcessGroup row;
      row.rank = rank;
      row.id = group;
      row.ranks = {0, 1};
      calls.add(row);
    }
    auto first = call(rank, 0, 0, 100), second = call(rank, 0, 30, 200);
    first.function = model::CollectiveFunction::kAllGather;
    second.process_group = 1;
    calls.add(first);
    calls.add(second);
  }
  const auto all = [](const auto&, const auto&) { return true; };
  const auto times = [&](const MatchedCalls::LinkTime& link_ns) {
    std::vector<double> told;
    for (const auto& [kind, sizes] : calls.measured(all, link_ns)) {
      told.push_back(sizes.at(100).front());
    }
    std::ranges::sort(told);
    return told;
  };
  EXPECT_THAT(times({}), ElementsAre(100, 170));
  EXPECT_THAT(times([](const auto&, double bytes) { return bytes; }), ElementsAre(100, 100));
  EXPECT_THAT(times([](const auto&, double) { return 0.0; }), ElementsAre(100, 170))
      << "they pass none";
}

// Of two groups, whose calls do not wait for each other, every nanosecond on its own.
TEST(MatchedCalls, HaveTogetherTheTimeInWhichTheirGroupWorked) {
  std::mt19937 random(7);
  const auto draw = [&](int below) { return static_cast<int>(random() % below); };
  for (int round = 0; round < 200; ++round) {
    MatchedCalls calls(1);
    std::vector<std::vector<base::Interval>> groups(2);
    for (int i = 0, count = 1 + draw(12); i < count; ++i) {
      const int group = draw(2);
      const std::int64_t start = draw(60), end = start + draw(40);
      model::Collective row = call(0, i, start, end);
      row.process_group = group;
      row.bytes = i;
      calls.add(row);
      groups[group].push_back({start, end});
    }
    const auto measured = calls.measured([](const auto&, const auto&) { return true; });
    double together = 0;
    for (const auto& [bytes, times] : measured.begin()->second) {
      ASSERT_EQ(times.size(), 1u);
      together += times[0];
    }
    double worked = 0;
    for (const auto& group : groups) {
      for (std::int64_t ns = 0; ns < 100; ++ns) {
        worked += std::ranges::any_of(
            group, [&](const auto& one) { return one.start_ns <= ns && ns < one.end_ns; });
      }
    }
    EXPECT_NEAR(together, worked, 1e-9) << "round " << round;
  }
}

TEST(MatchedCalls, ContradictOneClockWhereOneRankHadEndedBeforeAnotherCame) {
  MatchedCalls calls(2);
  calls.add(call(0, 0, 0, 1'000'000));
  calls.add(call(1, 0, 1'040'000, 2'000'000));
  EXPECT_FALSE(calls.contradict_one_clock()) << "as near as times are known";
  calls.add(call(0, 1, 0, 1'000'000));
  calls.add(call(1, 1, 1'060'000, 2'000'000));
  EXPECT_TRUE(calls.contradict_one_clock());
}

// Fully sharded programs need not have an all-reduce. The root of a broadcast does not wait.
TEST(MatchedCalls, ContradictOneClockWithoutAnyAllReduceToo) {
  const auto contradict = [](model::CollectiveFunction function) {
    MatchedCalls calls(2);
    for (const int rank : {0, 1}) {
      auto row = call(rank, 0, 5'000'000 * rank, 5'000'000 * rank + 1'000'000);
      row.function = function;
      calls.add(row);
    }
    return calls.contradict_one_clock();
  };
  EXPECT_TRUE(contradict(model::CollectiveFunction::kAllGather));
  EXPECT_TRUE(contradict(model::CollectiveFunction::kReduceScatter));
  EXPECT_FALSE(contradict(model::CollectiveFunction::kBroadcast));
}

}  // namespace
}  // namespace shardlens::trace::predict
