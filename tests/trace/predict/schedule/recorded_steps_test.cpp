#include "trace/predict/schedule/recorded_steps.h"

#include <gtest/gtest.h>

namespace shardlens::trace::predict {
namespace {

constexpr int kName = 1;

// Steps of 1000 ns from 1000 on, of two ranks with two gradients, in as many micro-batches as
// wanted.
class RecordedStepsTest : public testing::Test {
 protected:
  void learn(int rank, std::int64_t step, int micro_batches = 1) {
    model::Batch batch;
    batch.strings.push_back(
        {rank, kName, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"});
    batch.strings.push_back({rank, kName + 1, "aten::mul"});
    const std::int64_t start = 1000 * (step + 1);
    model::Step row;
    row.rank = rank;
    row.index = step;
    row.start_ns = start;
    row.end_ns = start + 900;
    row.full_detail = true;
    batch.steps.push_back(row);
    model::EventRun run;
    run.rank = rank;
    for (int i = 0; i < micro_batches; ++i) {
      const std::int64_t at = start + 100 + 400 * i;
      for (const std::int64_t time : {at, at + 50, at + 100}) {
        model::Event event;
        event.start_ns = time;
        event.duration_ns = 10 + rank;
        event.name = time == at + 50 ? kName + 1 : kName;
        run.events.push_back(event);
      }
      model::Span span;
      span.rank = rank;
      span.phase = base::Phase::kBackward;
      span.start_ns = at;
      span.end_ns = at + 200;
      batch.spans.push_back(span);
      span.phase = base::Phase::kForward;
      span.start_ns = at - 40;
      span.end_ns = at;
      batch.spans.push_back(span);
    }
    batch.events.push_back(run);
    model::Collective call;
    call.rank = rank;
    call.sequence = step;
    call.tag_kind = model::TagKind::kBucket;
    call.bytes = 24;
    call.start_ns = start + 300 + 100 * rank;
    call.end_ns = start + 700;
    batch.collectives.push_back(call);
    recorded_.learn(batch);
  }
  void learn_plan(int plan, std::vector<std::vector<std::int64_t>> buckets) {
    model::Batch batch;
    for (const auto& bytes : buckets) {
      model::Bucket bucket;
      bucket.plan = plan;
      bucket.index = static_cast<int>(batch.buckets.size());
      bucket.parameter_bytes = bytes;
      for (const std::int64_t each : bytes) bucket.bytes += each;
      batch.buckets.push_back(bucket);
    }
    recorded_.learn(batch);
  }

  RecordedSteps recorded_{2, 0};
};

TEST_F(RecordedStepsTest, TellWhenGradientsWereReady) {
  learn_plan(0, {{16, 8}});
  learn_plan(1, {{8}, {16}});
  for (int rank : {0, 1}) learn(rank, 3);
  EXPECT_EQ(recorded_.gradient_bytes(), (std::vector<std::int64_t>{8, 16})) << "the last plan's";
  EXPECT_EQ(recorded_.bucket_bytes(), (std::vector<std::int64_t>{8, 16}));
  const auto steps = recorded_.steps();
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].index, 3);
  ASSERT_EQ(steps[0].ranks.size(), 2u);
  ASSERT_EQ(steps[0].ranks[1].micro_batches.size(), 1u);
  const MicroBatch& only = steps[0].ranks[1].micro_batches[0];
  EXPECT_EQ(only.start_ns, 4000);
  EXPECT_EQ(only.forward_ns, 40);
  EXPECT_EQ(only.backward_start_ns, 4100);
  EXPECT_EQ(only.backward_end_ns, 4300);
  EXPECT_EQ(only.gradient_ready_ns, (std::vector<std::int64_t>{4111, 4211}));
}

TEST_F(RecordedStepsTest, TellSeveralMicroBatchesOneAfterTheOther) {
  learn_plan(1, {{8, 16}});
  for (int rank : {0, 1}) learn(rank, 0, 2);
  const auto steps = recorded_.steps();
  ASSERT_EQ(steps.size(), 1u);
  const auto& micro_batches = steps[0].ranks[0].micro_batches;
  ASSERT_EQ(micro_batches.size(), 2u);
  EXPECT_EQ(micro_batches[0].gradient_ready_ns, (std::vector<std::int64_t>{1110, 1210}));
  EXPECT_EQ(micro_batches[0].backward_end_ns, 1300);
  EXPECT_EQ(micro_batches[1].start_ns, 1300) << "where the first ended";
  EXPECT_EQ(micro_batches[1].gradient_ready_ns, (std::vector<std::int64_t>{1510, 1610}));
}

TEST_F(RecordedStepsTest, WithDifferingMicroBatchesAreLeftOut) {
  learn_plan(1, {{8, 16}});
  learn(0, 0, 2);
  learn(1, 0, 1);
  EXPECT_TRUE(recorded_.steps().empty());
}

TEST_F(RecordedStepsTest, WithoutARankOrAGradientAreLeftOut) {
  learn_plan(1, {{8, 16, 4}});
  for (int rank : {0, 1}) learn(rank, 0);
  EXPECT_TRUE(recorded_.steps().empty()) << "one of three gradients is missing";
  learn_plan(2, {{8, 16}});
  EXPECT_EQ(recorded_.steps().size(), 1u);
  learn(0, 5);
  EXPECT_EQ(recorded_.steps().size(), 1u) << "rank 1 has not told step 5";
}

TEST_F(RecordedStepsTest, BeforeTheFirstThatCountsAreLeftOut) {
  recorded_ = RecordedSteps(2, 1);
  learn_plan(1, {{8, 16}});
  for (std::int64_t step : {0, 1}) {
    for (int rank : {0, 1}) learn(rank, step);
  }
  const auto steps = recorded_.steps();
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_EQ(steps[0].index, 1);
}

TEST_F(RecordedStepsTest, TakeAsManyAsTheyNeed) {
  learn_plan(1, {{8, 16}});
  std::int64_t step = 0;
  for (; !recorded_.is_enough(); ++step) {
    ASSERT_LT(step, 200);
    for (int rank : {0, 1}) learn(rank, step);
  }
  const auto steps = recorded_.steps();
  ASSERT_EQ(steps.size(), RecordedSteps::kMostSteps);
  EXPECT_EQ(steps.back().index, static_cast<std::int64_t>(RecordedSteps::kMostSteps) - 1);
  for (int rank : {0, 1}) learn(rank, 1000);
  EXPECT_EQ(recorded_.steps().back().index, steps.back().index);
}

TEST_F(RecordedStepsTest, EndsWhereNoStepTellsEnough) {
  learn_plan(1, {{8, 16, 4}});
  std::int64_t step = 0;
  for (; !recorded_.is_enough() && step < 5000; ++step) {
    for (int rank : {0, 1}) learn(rank, step);
  }
  EXPECT_LT(step, 5000);
  EXPECT_TRUE(recorded_.steps().empty());
}

TEST_F(RecordedStepsTest, CountTransfersFromTheLastRanksStart) {
  learn_plan(1, {{8, 16}});
  for (int rank : {0, 1}) learn(rank, 0);
  learn(0, 1);  // whose other rank's part is missing
  const auto cost = recorded_.costs().of(24);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->ns, 300);
}

}  // namespace
}  // namespace shardlens::trace::predict
