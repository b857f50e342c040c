#include "trace/predict/costs/matched_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(MatchedCalls, ContradictOneClockWhereOneRankHadEndedBeforeAnotherCame) {
  MatchedCalls calls(2);
  calls.add(call(0, 0, 0, 1'000'000));
  calls.add(call(1, 0, 1'040'000, 2'000'000));
  EXPECT_FALSE(calls.contradict_one_clock()) << "as near as times are known";
  calls.add(call(0, 1, 0, 1'000'000));
  calls.add(call(1, 1, 1'060'000, 2'000'000));
  EXPECT_TRUE(calls.contradict_one_clock());
}

}  // namespace
}  // namespace shardlens::trace::predict
