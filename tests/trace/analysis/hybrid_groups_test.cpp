// Hybrid sharding over 2 × 2 ranks: groups of different ranks have the same number and name; or
// they are communicators, of which each rank knows a number of their own and itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "tests/trace/analysis/synthetic_run.h"
#include "tests/trace/units.h"
#include "trace/analysis/hang/hang_diagnosis.h"
#include "trace/analysis/run/run_analysis.h"

namespace shardlens::trace::analysis {
namespace {

using testing::HasSubstr;

constexpr int kHybridRanks = 4;
constexpr int kShard = 1, kReplicate = 2;
constexpr std::int64_t kObserved = 1000 * kSecond;
constexpr std::int64_t kCallBytes = 4096;

// The members of each rank's two groups.
constexpr std::array<std::array<int, 2>, kHybridRanks> kShards{{{0, 1}, {0, 1}, {2, 3}, {2, 3}}};
constexpr std::array<std::array<int, 2>, kHybridRanks> kReplicas{{{0, 2}, {1, 3}, {0, 2}, {1, 3}}};

enum class Told : std::uint8_t { kAll, kItself };

int number_of(Told told, int rank, int group) {
  if (told == Told::kAll) return group;
  const auto r = static_cast<std::size_t>(rank);
  return 100 * group + (group == kShard ? kShards[r] : kReplicas[r])[0];
}

model::Batch announced(int rank, Told told = Told::kAll) {
  const auto r = static_cast<std::size_t>(rank);
  model::Batch batch;
  batch.strings = {
      {rank, 1, "world"}, {rank, 2, "shard"}, {rank, 3, "replicate"}, {rank, 4, "blocks.0 reduce"}};
  batch.process_groups = {{rank, 0, 1, 0, {0, 1, 2, 3}},
                          {rank, kShard, 2, 0, {kShards[r][0], kShards[r][1]}},
                          {rank, kReplicate, 3, 0, {kReplicas[r][0], kReplicas[r][1]}}};
  if (told == Told::kAll) return batch;
  for (model::ProcessGroup& group : batch.process_groups) {
    if (group.id == 0) continue;
    group.id = number_of(told, rank, group.id);
    group.ranks = {model::kNotKnown, rank};
  }
  return batch;
}

model::Collective call(int rank, int group, model::CollectiveFunction function,
                       std::int64_t start_ns, std::int64_t end_ns, std::int64_t sequence = 0) {
  model::Collective row = all_reduce(rank, sequence, start_ns, end_ns, kCallBytes);
  row.process_group = group;
  row.function = row.executed = function;
  row.tag_kind = model::TagKind::kUnit;
  row.tag_index = 1;
  row.tag_name = 4;
  return row;
}

// A step of 1000 ns. The shard group {0, 1} scatters at 100 to 200, {2, 3} at 500 to 700 with rank
// 3 50 late; the replicas {0, 2} reduce at 750 to 800, {1, 3} at 750 to 900 with rank 1 30 late.
model::Batch rows_of(int rank, Told told = Told::kAll) {
  constexpr std::array<std::array<std::int64_t, 4>, kHybridRanks> kTimes{
      {{100, 200, 750, 800}, {100, 200, 780, 900}, {500, 700, 750, 800}, {550, 700, 750, 900}}};
  const auto& t = kTimes[static_cast<std::size_t>(rank)];
  model::Batch batch = announced(rank, told);
  model::Collective scatter =
      call(rank, number_of(told, rank, kShard), model::CollectiveFunction::kReduceScatter,
           kSecond + t[0], kSecond + t[1]);
  scatter.executed = model::CollectiveFunction::kAllReduce;  // as Gloo runs it
  batch.collectives = {
      scatter, call(rank, number_of(told, rank, kReplicate), model::CollectiveFunction::kAllReduce,
                    kSecond + t[2], kSecond + t[3])};
  model::Step step;
  step.rank = rank;
  step.start_ns = kSecond;
  step.end_ns = kSecond + 1000;
  step.full_detail = true;
  batch.steps = {step};
  return batch;
}

using Order = std::array<int, kHybridRanks>;

class HybridGroups : public testing::TestWithParam<std::tuple<Order, Told>> {
 protected:
  void SetUp() override {
    model::RunInfo info;
    info.world_size = kHybridRanks;
    info.settings.skip_steps = 0;
    analysis = RunAnalysis(info);
    const auto& [order, told] = GetParam();
    for (const int rank : order) {
      rows.push_back(rows_of(rank, told));
      analysis.add(rows.back());
    }
    figures = analysis.figures();
  }

  std::vector<model::Batch> rows;
  RunAnalysis analysis{model::RunInfo{}};
  RunFigures figures;
};

TEST_P(HybridGroups, AreEachShownOnce) {
  ASSERT_EQ(figures.process_groups.size(), 5u) << "world, two shard groups, two replicate groups";
  const auto count = [&](const std::string& name) {
    return std::ranges::count(figures.process_groups, name, &ProcessGroupFigures::name);
  };
  EXPECT_EQ(count("shard"), 2);
  EXPECT_EQ(count("replicate"), 2);
  for (const ProcessGroupFigures& group : figures.process_groups)
    EXPECT_THAT(group.ranks, testing::Each(testing::Ge(0))) << "all members are known";
}

TEST_P(HybridGroups, WaitsAndTransfersAreThoseOfTheirOwnMembers) {
  ASSERT_EQ(figures.collectives.size(), 2u);
  for (const auto& row : figures.collectives) {
    EXPECT_EQ(row.tag, "blocks.0 reduce");
    EXPECT_EQ(row.count, 4);
    EXPECT_EQ(row.matched, 4);
    if (row.function == model::CollectiveFunction::kReduceScatter) {
      EXPECT_EQ(row.executed, model::CollectiveFunction::kAllReduce);
      EXPECT_DOUBLE_EQ(row.wait_ns, (0 + 0 + 50 + 0) / 4.0);
      EXPECT_DOUBLE_EQ(row.transfer_ns, (100 + 100 + 150 + 150) / 4.0);
      EXPECT_DOUBLE_EQ(row.algbw_bytes_per_s, kCallBytes / 125e-9);
      EXPECT_DOUBLE_EQ(row.busbw_bytes_per_s, row.algbw_bytes_per_s / 2) << "as was asked for";
    } else {
      EXPECT_DOUBLE_EQ(row.wait_ns, (0 + 0 + 0 + 30) / 4.0);
      EXPECT_DOUBLE_EQ(row.transfer_ns, (50 + 50 + 120 + 120) / 4.0);
    }
  }
}

TEST_P(HybridGroups, SendByTheirOwnSizeAndByWhatReallyRan) {
  // Two all-reduces in groups of two: 2 · (2 − 1)/2 · S each. Over four ranks it would be 1.5 · S.
  EXPECT_DOUBLE_EQ(figures.summary.bytes_sent_per_step.value(), 2.0 * kCallBytes);
}

INSTANTIATE_TEST_SUITE_P(Orders, HybridGroups,
                         testing::Combine(testing::Values(Order{0, 1, 2, 3}, Order{3, 2, 1, 0},
                                                          Order{2, 0, 3, 1}),
                                          testing::Values(Told::kAll, Told::kItself)));

// All ranks alive in step 5, all done with collective 0 of both groups.
class HybridHang : public testing::Test {
 protected:
  void SetUp() override { set_up(Told::kAll, kHybridRanks); }

  void set_up(Told told, int recorded) {
    model::RunInfo info;
    info.world_size = kHybridRanks;
    analysis = RunAnalysis(info);
    for (int rank = 0; rank < recorded; ++rank) {
      model::Batch batch = rows_of(rank, told);
      batch.heartbeat = model::Heartbeat{rank, kObserved, kObserved, 5, base::Phase::kBackward};
      analysis.add(batch);
    }
  }

  void wait_in(int rank, int group, model::CollectiveFunction function) {
    model::PendingCollective pending;
    pending.rank = rank;
    pending.process_group = group;
    pending.sequence = 1;
    pending.function = function;
    pending.tag_kind = model::TagKind::kUnit;
    pending.tag_index = 1;
    pending.tag_name = 4;
    pending.phase = base::Phase::kBackward;
    pending.step = 5;
    pending.bytes = kCallBytes;
    model::Batch batch;
    batch.pending = {{pending}};
    analysis.add(batch);
  }

  HangDiagnosis diagnose() {
    return diagnose_hang(analysis.figures(), analysis.strings(), kObserved);
  }

  RunAnalysis analysis{model::RunInfo{}};
};

TEST_F(HybridHang, RanksOfAnotherGroupOfTheSameNumberAreNotMissed) {
  // Ranks 2 and 3 have not come to their own scatter yet: nobody waits for them.
  wait_in(0, kShard, model::CollectiveFunction::kReduceScatter);
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kNotArrived);
  EXPECT_EQ(diagnosis.rank, 1);
  EXPECT_THAT(diagnosis.sentence, HasSubstr("rank 1 did not arrive"));
}

TEST_F(HybridHang, NamesTheRankAtTheEndOfTheChainOfWaits) {
  // Rank 0 waits for 2 and rank 1 for 3 among the replicas; rank 2 waits for 3 in the shard group.
  wait_in(0, kReplicate, model::CollectiveFunction::kAllReduce);
  wait_in(1, kReplicate, model::CollectiveFunction::kAllReduce);
  wait_in(2, kShard, model::CollectiveFunction::kReduceScatter);
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kNotArrived);
  EXPECT_EQ(diagnosis.rank, 3) << diagnosis.sentence;
}

TEST_F(HybridHang, AStoppedRankComesBeforeThoseThatWaitForIt) {
  wait_in(0, kReplicate, model::CollectiveFunction::kAllReduce);
  wait_in(2, kShard, model::CollectiveFunction::kReduceScatter);
  model::Batch batch;
  batch.heartbeat = model::Heartbeat{3, kObserved - 12 * kSecond, kObserved - 12 * kSecond, 5,
                                     base::Phase::kForward};
  analysis.add(batch);
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kStopped);
  EXPECT_EQ(diagnosis.rank, 3) << diagnosis.sentence;
}

TEST_F(HybridHang, RanksThatWaitForEachOtherAreStillNamed) {
  // 0 waits for 1 in the shard group, 1 for 3 and 3 for 2 and 2 for 0: a ring, nobody is free.
  wait_in(0, kShard, model::CollectiveFunction::kReduceScatter);
  wait_in(1, kReplicate, model::CollectiveFunction::kAllReduce);
  wait_in(3, kShard, model::CollectiveFunction::kReduceScatter);
  wait_in(2, kReplicate, model::CollectiveFunction::kAllReduce);
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kNotArrived);
  EXPECT_GE(diagnosis.rank, 0);
}

TEST_F(HybridHang, TheOthersOfACommunicatorAreThoseThatAnnouncedIt) {
  set_up(Told::kItself, kHybridRanks);
  wait_in(0, number_of(Told::kItself, 0, kReplicate), model::CollectiveFunction::kAllReduce);
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kNotArrived);
  EXPECT_EQ(diagnosis.rank, 2) << diagnosis.sentence;
}

TEST_F(HybridHang, ARankOfACommunicatorThatIsNotRecordedIsNotSaidToHaveCome) {
  set_up(Told::kItself, 2);
  wait_in(1, number_of(Told::kItself, 1, kReplicate), model::CollectiveFunction::kAllReduce);
  const auto diagnosis = diagnose();
  EXPECT_EQ(diagnosis.cause, HangCause::kSlow);
  EXPECT_THAT(diagnosis.sentence,
              testing::AllOf(testing::StartsWith("rank 1 has entered all_reduce"),
                             HasSubstr("look at the other 1 rank of that group")));
}

}  // namespace
}  // namespace shardlens::trace::analysis
