// Waits, transfers and bandwidths of the collectives of a range, call by call.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "trace/explore/collective_tables.h"

namespace shardlens::trace {

namespace {

struct WaitedCall {
  std::int64_t start_ns = 0, end_ns = 0, latest_ns = 0, bytes = 0;
};

TEST(CollectiveTables, SumWaitsAndTransfersOfCallsWhoseLastRankIsKnown) {
  std::mt19937 random(11);
  constexpr int kRanks = 4, kCalls = 60;
  std::vector<std::vector<Collective>> rows(kRanks);
  std::vector<CallStart> starts;
  std::map<CollectiveFunction, std::vector<WaitedCall>> expected;
  for (int i = 0; i < kCalls; ++i) {
    const auto function =
        i % 3 == 0 ? CollectiveFunction::kAllReduce : CollectiveFunction::kAllGather;
    const bool known = i % 5 != 0;
    std::int64_t latest = 0;
    for (int rank = 0; rank < kRanks; ++rank) {
      Collective row;
      row.rank = rank;
      row.function = function;
      row.bytes = 1000 * (i + 1);
      row.start_ns = 100'000 * (i + 1) + static_cast<std::int64_t>(random() % 50'000);
      row.end_ns = row.start_ns + static_cast<std::int64_t>(random() % 60'000);
      latest = std::max(latest, row.start_ns);
      rows[static_cast<std::size_t>(rank)].push_back(row);
    }
    starts.push_back(known ? CallStart{latest, kRanks} : CallStart{});
    if (!known) continue;
    for (const auto& rank : rows) {
      expected[function].push_back(
          {rank.back().start_ns, rank.back().end_ns, latest, rank.back().bytes});
    }
  }
  std::vector<CollectiveRows> all;
  for (int rank = 0; rank < kRanks; ++rank) {
    CollectiveRows one;
    one.rank = rank;
    one.rows = rows[static_cast<std::size_t>(rank)];
    one.text = [](StringId) { return std::string_view(); };
    one.call_start = [&starts](std::size_t index) { return starts[index]; };
    all.push_back(one);
  }
  const auto tables = collective_tables(all, {0, 100'000'000, {}});
  ASSERT_EQ(tables.size(), 4u);
  int compared = 0;
  for (const NameFigures& row : tables[1].rows) {
    const bool all_reduce = row.name == "all_reduce";
    const auto& calls =
        expected[all_reduce ? CollectiveFunction::kAllReduce : CollectiveFunction::kAllGather];
    std::int64_t wait = 0, transfer = 0, bytes = 0;
    for (const WaitedCall& call : calls) {
      wait += call.latest_ns - call.start_ns;
      transfer += std::max<std::int64_t>(0, call.end_ns - call.latest_ns);
      bytes += call.bytes;
    }
    EXPECT_EQ(row.matched, static_cast<std::int64_t>(calls.size()));
    EXPECT_LT(row.matched, row.count);
    EXPECT_EQ(row.wait_ns, wait);
    EXPECT_EQ(row.transfer_ns, transfer);
    EXPECT_EQ(row.matched_bytes, bytes);
    // nccl-tests: 2(n−1)/n of an all-reduce, (n−1)/n of an all-gather.
    EXPECT_NEAR(row.bus_bytes, static_cast<double>(bytes) * (all_reduce ? 1.5 : 0.75), 1);
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

TEST(CollectiveTables, KnowNoWaitWithoutTheOtherRanks) {
  std::vector<Collective> rows(3);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].end_ns = 100;
  CollectiveRows one;
  one.rows = rows;
  one.text = [](StringId) { return std::string_view(); };
  const auto tables = collective_tables(std::span(&one, 1), {0, 1000, {}});
  ASSERT_EQ(tables[0].rows.size(), 1u);
  EXPECT_EQ(tables[0].rows[0].matched, 0);
  EXPECT_EQ(tables[0].rows[0].transfer_ns, 0);
}

}  // namespace

}  // namespace shardlens::trace
