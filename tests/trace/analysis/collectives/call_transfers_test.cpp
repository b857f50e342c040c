#include "trace/analysis/collectives/call_transfers.h"

#include <gtest/gtest.h>

namespace shardlens::trace::analysis {
namespace {

using model::CollectiveFunction;
using predict::MeasuredTransfers;

// Four ranks, whose halves have a group "shard" (1) of the same number.
class CallTransfersTest : public testing::Test {
 protected:
  CallTransfersTest() {
    for (int rank = 0; rank < 4; ++rank) {
      model::Batch batch;
      batch.process_groups.push_back({rank, 0, 0, 0, {0, 1, 2, 3}});
      const int first = rank / 2 * 2;
      batch.process_groups.push_back({rank, 1, 0, 0, {first, first + 1}});
      batch.rank_info.emplace();
      batch.rank_info->rank = rank;
      batch.rank_info->host = "a";
      transfers_.add(batch);
    }
  }

  void set_host(int rank, const std::string& name) {
    model::Batch batch;
    batch.rank_info.emplace();
    batch.rank_info->rank = rank;
    batch.rank_info->host = name;
    transfers_.add(batch);
  }

  model::Collective call(int rank, int group, std::int64_t start_ns, std::int64_t end_ns) {
    model::Collective call;
    call.rank = rank;
    call.step = 1;
    call.process_group = group;
    call.sequence = 7;
    call.function = CollectiveFunction::kAllReduce;
    call.executed = CollectiveFunction::kAllReduce;
    call.bytes = 4096;
    call.start_ns = start_ns;
    call.end_ns = end_ns;
    return call;
  }
  void add(const model::Collective& call) {
    model::Batch batch;
    batch.collectives.push_back(call);
    transfers_.add(batch);
  }
  MeasuredTransfers reductions(int ranks) {
    return transfers_.measured()[{CollectiveFunction::kAllReduce, ranks}];
  }

  CallTransfers transfers_{4, 1};
};

TEST_F(CallTransfersTest, LastFromTheLastStartToTheLastEnd) {
  add(call(0, 0, 100, 500));
  add(call(1, 0, 380, 510));
  add(call(2, 0, 110, 500));
  EXPECT_TRUE(transfers_.measured().empty()) << "one rank has not told yet";
  add(call(3, 0, 120, 505));
  EXPECT_EQ(reductions(4), (MeasuredTransfers{{4096, {130}}})) << "waiting is no cost";
}

TEST_F(CallTransfersTest, GroupsOfTheSameNumberAreApart) {
  for (const auto& [rank, start, end] : {std::tuple(0, 100, 200), std::tuple(1, 150, 210),
                                         std::tuple(2, 1000, 1100), std::tuple(3, 1010, 1100)}) {
    add(call(rank, 1, start, end));
  }
  EXPECT_EQ(reductions(2), (MeasuredTransfers{{4096, {60, 90}}}));
}

TEST_F(CallTransfersTest, WhatTellsNoTransferDoesNotCount) {
  for (const int rank : {0, 1}) {
    model::Collective outside = call(rank, 1, 100, 200);
    outside.step = -1;
    add(outside);
    model::Collective early = call(rank, 1, 100, 200);
    early.step = 0;
    early.sequence = 8;
    add(early);
    model::Collective unknown = call(rank, 1, 100, 200);
    unknown.bytes = model::kNotKnown;
    unknown.sequence = 9;
    add(unknown);
    model::Collective reversed = call(rank, 1, 200, 100);
    reversed.sequence = 10;
    add(reversed);
    model::Collective barrier = call(rank, 1, 100, 200);
    barrier.function = CollectiveFunction::kBarrier;
    barrier.bytes = 0;
    barrier.sequence = 11;
    add(barrier);
  }
  EXPECT_TRUE(transfers_.measured().empty());
  set_host(1, "b");
  for (const int rank : {0, 1}) add(call(rank, 1, 100, 200));
  EXPECT_TRUE(transfers_.measured().empty()) << "two clocks";
  set_host(1, "a");
  EXPECT_EQ(reductions(2), (MeasuredTransfers{{4096, {100}}}));
}

}  // namespace
}  // namespace shardlens::trace::analysis
