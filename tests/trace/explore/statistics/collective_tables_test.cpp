// Waits, transfers and bandwidths of the collectives of a range, call by call.
#include "trace/explore/statistics/collective_tables.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

#include "tests/trace/explore/testing/snapshot_of_rows.h"

namespace shardlens::trace::explore {

namespace {

constexpr int kWaitingRanks = 4, kCalls = 60;

// One rank's part in a call whose last rank is known, and that it had not left by then.
struct WaitedCall {
  std::int64_t start_ns = 0, end_ns = 0, latest_ns = 0, bytes = 0;
};

struct WaitedCalls {
  std::array<std::vector<model::Collective>, kWaitingRanks> rows;  // of each rank, one per call
  std::map<model::CollectiveFunction, std::vector<WaitedCall>> known;
};

model::Collective random_row(std::mt19937& random, int rank, int call) {
  model::Collective row;
  row.rank = rank;
  row.function =
      call % 3 == 0 ? model::CollectiveFunction::kAllReduce : model::CollectiveFunction::kAllGather;
  row.bytes = 1000 * (call + 1);
  row.start_ns = 100'000 * (call + 1) + static_cast<std::int64_t>(random() % 50'000);
  row.end_ns = row.start_ns + 1 + static_cast<std::int64_t>(random() % 60'000);
  row.sequence = call % 5 == 0 ? -1 : call;
  return row;
}

// Of every fifth call nobody knows who came last.
WaitedCalls random_calls() {
  std::mt19937 random(11);
  WaitedCalls calls;
  for (int i = 0; i < kCalls; ++i) {
    std::int64_t latest = 0;
    for (int rank = 0; rank < kWaitingRanks; ++rank) {
      auto& rows = calls.rows[static_cast<std::size_t>(rank)];
      rows.push_back(random_row(random, rank, i));
      latest = std::max(latest, rows.back().start_ns);
    }
    if (i % 5 == 0) continue;
    for (const auto& rows : calls.rows) {
      const model::Collective& row = rows.back();
      if (row.end_ns <= latest) continue;
      calls.known[row.function].push_back({row.start_ns, row.end_ns, latest, row.bytes});
    }
  }
  return calls;
}

// In bytes per second: in the middle call, or between the two in the middle, a byte takes so long.
double middle_rate(const std::vector<WaitedCall>& calls) {
  std::vector<double> s_per_byte;
  for (const WaitedCall& call : calls) {
    s_per_byte.push_back(1e-9 * static_cast<double>(call.end_ns - call.latest_ns) /
                         static_cast<double>(call.bytes));
  }
  std::ranges::sort(s_per_byte);
  const std::size_t count = s_per_byte.size();
  return 2 / (s_per_byte[(count - 1) / 2] + s_per_byte[count / 2]);
}

// `bus_share`: what goes through a rank's link, of the bytes of a call.
void expect_figures_of(const std::vector<WaitedCall>& calls, double bus_share,
                       const timeline::NameFigures& row) {
  std::int64_t wait = 0, transfer = 0;
  for (const WaitedCall& call : calls) {
    wait += call.latest_ns - call.start_ns;
    transfer += call.end_ns - call.latest_ns;
  }
  EXPECT_EQ(row.matched, static_cast<std::int64_t>(calls.size()));
  EXPECT_LT(row.matched, row.count);
  EXPECT_EQ(row.wait_ns, wait);
  EXPECT_EQ(row.transfer_ns, transfer);
  const double rate = middle_rate(calls);
  EXPECT_NEAR(row.algbw_bytes_per_s, rate, rate * 1e-9);
  EXPECT_NEAR(row.busbw_bytes_per_s, rate * bus_share, rate * 1e-9);
}

TEST(CollectiveTables, SumWaitsAndTransfersOfCallsWhoseLastRankIsKnown) {
  const WaitedCalls calls = random_calls();
  RunSnapshot run;
  for (int rank = 0; rank < kWaitingRanks; ++rank)
    test::add_rank(run, test::rows_of(rank, calls.rows[static_cast<std::size_t>(rank)]));
  test::match_calls(run);
  const auto tables = collective_tables(run, {0, 100'000'000, {}});
  ASSERT_EQ(tables.size(), 4u);
  const std::vector<timeline::NameFigures>& by_function = tables[1].rows;
  ASSERT_EQ(by_function.size(), 2u);
  for (const timeline::NameFigures& row : by_function) {
    SCOPED_TRACE(row.name);
    // nccl-tests: 2(n−1)/n of an all-reduce, (n−1)/n of an all-gather.
    if (row.name == "all_reduce") {
      expect_figures_of(calls.known.at(model::CollectiveFunction::kAllReduce), 1.5, row);
    } else {
      expect_figures_of(calls.known.at(model::CollectiveFunction::kAllGather), 0.75, row);
    }
  }
}

TEST(CollectiveTables, OfARankAloneInItsGroupAllIsTransfer) {
  model::Collective row;
  row.function = model::CollectiveFunction::kAllReduce;
  row.bytes = 1000;
  std::vector<model::Collective> rows(3, row);
  rows[0].end_ns = rows[1].end_ns = 100;  // the last takes no time: nothing is moved
  const auto alone = test::rows_of(0, rows);
  alone->groups.emplace_back().ranks = {0};
  RunSnapshot run;
  test::add_rank(run, alone);
  test::match_calls(run);
  const auto tables = collective_tables(run, {0, 1000, {}});
  ASSERT_EQ(tables[1].rows.size(), 1u);
  EXPECT_EQ(tables[1].rows[0].matched, 2);
  EXPECT_EQ(tables[1].rows[0].wait_ns, 0);
  EXPECT_EQ(tables[1].rows[0].transfer_ns, 200);
  EXPECT_DOUBLE_EQ(tables[1].rows[0].algbw_bytes_per_s, 10e9);
  EXPECT_EQ(tables[1].rows[0].busbw_bytes_per_s, 0);
}

// As where no GPU was recorded.
TEST(CollectiveTables, CountButDoNotTimeCallsWhoseTimesAreNotKnown) {
  std::vector<model::Collective> rows(3);
  rows[1].end_ns = 100;
  rows[2].function = model::CollectiveFunction::kAllGather;
  RunSnapshot run;
  test::add_rank(run, test::rows_of(0, rows));
  const auto tables = collective_tables(run, {0, 1000, {}});
  ASSERT_EQ(tables[1].rows.size(), 2u);
  const timeline::NameFigures& some = tables[1].rows[0];
  EXPECT_EQ(some.count, 2);
  EXPECT_EQ(some.mean_ns, 100);
  EXPECT_EQ(some.median_ns, 100);
  EXPECT_EQ(some.least_ns, 100);
  EXPECT_EQ(some.histogram.counts[0], 1u);
  const timeline::NameFigures& none = tables[1].rows[1];
  EXPECT_EQ(none.count, 1);
  EXPECT_EQ(none.mean_ns, -1.0);
  EXPECT_EQ(none.median_ns, timeline::kUnknownNs);
  EXPECT_EQ(none.most_ns, timeline::kUnknownNs);
  EXPECT_EQ(tables[1].total_ns, 100);
}

}  // namespace

}  // namespace shardlens::trace::explore
