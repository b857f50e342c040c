#include "trace/predict/record/rank_work.h"

#include <gtest/gtest.h>

namespace shardlens::trace::predict {
namespace {

// A micro-batch from 1000 on: forward until 1100, backward until 1400, the optimizer until 1500.
RankRecord record_of(base::Intervals computes, std::vector<std::int64_t> call_ends_ns) {
  RankRecord record;
  record.step = {1000, 1500};
  record.forwards = {{1000, 1100}};
  record.backwards = {{1100, 1400}};
  record.optimizers = {{1400, 1500}};
  record.computes = std::move(computes);
  record.call_ends_ns = std::move(call_ends_ns);
  return record;
}

TEST(RankWork, LeavesOutWhatARankWaited) {
  // Between 1040 and 1060 for a call; between 1300 and 1310 for nothing.
  const auto record = record_of({{1000, 1040}, {1061, 1300}, {1310, 1500}}, {1060});
  const auto work = rank_work(record, {});
  ASSERT_TRUE(work);
  const MicroBatchWork& only = work->micro_batches.at(0);
  EXPECT_EQ(only.backward_begin.computed_ns, 80);
  EXPECT_EQ(only.end.computed_ns, 380);
  EXPECT_EQ(work->optimizer_ns, 100);
}

TEST(RankWork, WaitsAlsoWhereItGoesOnAtTheVeryEndOfTheCall) {
  const auto work = rank_work(record_of({{1000, 1040}, {1060, 1500}}, {1060}), {});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->micro_batches.at(0).backward_begin.computed_ns, 80);
}

TEST(RankWork, ACallThatEndsBesideComputationIsNoWait) {
  const auto work = rank_work(record_of({{1000, 1500}}, {1060, 1200}), {});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->micro_batches.at(0).end.computed_ns, 400);
}

TEST(RankWork, TellsWhatWasBesideCommunication) {
  RankRecord record = record_of({{1000, 1200}, {1300, 1500}}, {1300});
  record.works = {{1150, 1300}};
  record.gradients_ns = {1180};
  const auto work = rank_work(record, {.gradients = 1});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->micro_batches.at(0).gradients, (std::vector<Moment>{{180, 30}}));
  EXPECT_EQ(work->micro_batches.at(0).end, (Moment{300, 50})) << "waiting is not slowed down";
  EXPECT_FALSE(rank_work(record, {.gradients = 2}));
}

// Of 20 ns behind operators half was a wait, and of 30 in the end two thirds come after backward.
TEST(RankWork, TellsWhatTakesAsLongWithAnyBatch) {
  RankRecord record = record_of({{1000, 1040}, {1061, 1500}}, {1060});
  record.steady = {{1020, 1030}, {1050, 1070}, {1390, 1420}};
  const auto work = rank_work(record, {});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->micro_batches.at(0).steady_ns, 10 + 10 + 10);
  EXPECT_EQ(work->micro_batches.at(0).end.computed_ns, 380);
}

// Backward begins at 1100; from 1200 to 1300 it waited.
TEST(RankWork, TellsWhatWasDoneForGradients) {
  RankRecord record = record_of({{1000, 1200}, {1300, 1500}}, {1300});
  record.gradient_work = {{1010, 1020}, {1190, 1310}, {1320, 1325}};
  const auto work = rank_work(record, {});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->micro_batches.at(0).gradients_ns, 10 + 10 + 5);
}

// Two blocks, gathered when they are needed in forward, the first one ahead in backward.
TEST(RankWork, TellsWhenUnitsWereEnteredAndLeft) {
  RankRecord record = record_of({{1000, 1500}}, {});
  record.unit_calls = {{UnitCall::What::kForwardGather, 0, false, 1000, 1001},
                       {UnitCall::What::kForwardGather, 1, false, 1010, 1011},
                       {UnitCall::What::kForwardGather, 2, false, 1050, 1051},
                       {UnitCall::What::kBackwardGather, 2, false, 1120, 1121},
                       {UnitCall::What::kBackwardGather, 1, true, 1121, 1130},
                       {UnitCall::What::kReduce, 2, false, 1200, 1210},
                       {UnitCall::What::kReduce, 1, false, 1300, 1310},
                       {UnitCall::What::kReduce, 0, false, 1390, 1399}};
  const auto work = rank_work(record, {.units = 3});
  ASSERT_TRUE(work);
  const MicroBatchWork& only = work->micro_batches.at(0);
  ASSERT_EQ(only.forwards.size(), 2u);
  EXPECT_EQ(only.forwards[0].begin.computed_ns, 10);
  EXPECT_EQ(only.forwards[1].begin.computed_ns, 50);
  ASSERT_EQ(only.backwards.size(), 2u);
  EXPECT_EQ(only.backwards[0].unit, 2);
  EXPECT_EQ(only.backwards[0].begin.computed_ns, 120);
  EXPECT_EQ(only.backwards[0].end.computed_ns, 200);
  EXPECT_EQ(only.backwards[1].begin.computed_ns, 200);
  EXPECT_EQ(only.backwards[1].end.computed_ns, 300);
}

TEST(RankWork, GuessesTheFirstBackwardByTheOthersAndTheLastForwardByTheOneBefore) {
  RankRecord record = record_of({{1000, 1500}}, {});
  record.unit_calls = {
      {UnitCall::What::kForwardGather, 1, false, 1010, 1011},
      {UnitCall::What::kForwardGather, 2, true, 1010, 1012},  // entered at 1040 …
      {UnitCall::What::kForwardGather, 3, true, 1040, 1042},  // … when this was asked for
      {UnitCall::What::kReduce, 3, false, 1200, 1210},
      {UnitCall::What::kReduce, 2, false, 1260, 1270},
      {UnitCall::What::kReduce, 1, false, 1320, 1330}};
  const auto work = rank_work(record, {.units = 4});
  ASSERT_TRUE(work);
  const MicroBatchWork& only = work->micro_batches.at(0);
  ASSERT_EQ(only.forwards.size(), 3u);
  EXPECT_EQ(only.forwards[1].begin.computed_ns, 40);
  EXPECT_EQ(only.forwards[2].begin.computed_ns, 70) << "as long after the second as that was";
  EXPECT_EQ(only.backwards.at(0).begin.computed_ns, 140) << "60 before its end, as the others";
}

// Around a gather from 1050 to 1060 the host copies.
TEST(RankWork, TellsWhatTheHostDidForUnitsApart) {
  RankRecord record = record_of({{1000, 1040}, {1061, 1500}}, {1060});
  record.unit_calls = {{UnitCall::What::kForwardGather, 1, false, 1045, 1060, 1050}};
  record.unit_works = {{UnitWork::What::kBeforeGather, 1, {1030, 1062}},
                       {UnitWork::What::kBehindGather, 1, {1062, 1070}}};
  const auto work = rank_work(record, {});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->micro_batches.at(0).backward_begin.computed_ns, 60);
  EXPECT_EQ(work->micro_batches.at(0).end.computed_ns, 360);
  ASSERT_EQ(work->unit_works.size(), 2u);
  EXPECT_EQ(work->unit_works[0].ns, 22);
  EXPECT_EQ(work->unit_works[1].ns, 8);
  EXPECT_EQ(work->unit_works[1].what, UnitWork::What::kBehindGather);
}

// Without reductions nobody tells where units end.
TEST(RankWork, OfAMicroBatchWithoutReductionsNoBackwardIsTold) {
  RankRecord record = record_of({{1000, 1500}}, {});
  record.unit_calls = {{UnitCall::What::kForwardGather, 1, false, 1010, 1011}};
  const auto work = rank_work(record, {.units = 2});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->micro_batches.at(0).forwards.size(), 1u);
  EXPECT_TRUE(work->micro_batches.at(0).backwards.empty());
}

// Units that are still gathered from before; their gradients come behind the next one's backward.
TEST(RankWork, GoesByMarksWhereNothingIsGatheredAndGradientsAreLate) {
  RankRecord record = record_of({{1000, 1500}}, {});
  using What = UnitMark::What;
  record.unit_marks = {{What::kForward, 1, 1010},   {What::kForward, 2, 1050},
                       {What::kBackward, 2, 1120},  {What::kBackward, 1, 1200},
                       {What::kGradients, 2, 1290}, {What::kGradients, 1, 1380},
                       {What::kGradients, 0, 1390}};
  const auto work = rank_work(record, {.units = 3});
  ASSERT_TRUE(work);
  const MicroBatchWork& only = work->micro_batches.at(0);
  ASSERT_EQ(only.forwards.size(), 2u);
  EXPECT_EQ(only.forwards[0].begin.computed_ns, 10);
  EXPECT_EQ(only.forwards[1].begin.computed_ns, 50);
  ASSERT_EQ(only.backwards.size(), 2u);
  EXPECT_EQ(only.backwards[0].begin.computed_ns, 120);
  EXPECT_EQ(only.backwards[0].end.computed_ns, 200) << "where backward came to the other unit";
  EXPECT_EQ(only.backwards[1].end.computed_ns, 290);
}

// As of a contrastive loss.
TEST(RankWork, OfSeveralForwardsBeforeABackwardTheLastIsThatOfTheMicroBatch) {
  RankRecord record = record_of({{1000, 1500}}, {});
  record.forwards = {{1000, 1040}, {1050, 1100}};
  const auto work = rank_work(record, {});
  ASSERT_TRUE(work);
  ASSERT_EQ(work->micro_batches.size(), 1u);
  EXPECT_EQ(work->micro_batches.at(0).forward_begin.computed_ns, 50);
  EXPECT_EQ(work->micro_batches.at(0).backward_begin.computed_ns, 100);
}

TEST(RankWork, WithoutAForwardForEachBackwardIsNone) {
  RankRecord record = record_of({{1000, 1500}}, {});
  record.forwards.clear();
  EXPECT_FALSE(rank_work(record, {}));
  record.forwards = {{1000, 1100}, {1410, 1490}};  // as of an evaluation
  EXPECT_FALSE(rank_work(record, {}));
}

}  // namespace
}  // namespace shardlens::trace::predict
