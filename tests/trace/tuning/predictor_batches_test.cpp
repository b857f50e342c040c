// Predictions of other batches: more or larger ones, longer sequences, padded texts.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/trace/tuning/recorded_job.h"
#include "tests/trace/tuning/recorded_predictor.h"
#include "trace/analysis/figures/memory_figures.h"
#include "trace/predict/memory/memory_model.h"
#include "trace/tuning/predictor.h"

namespace shardlens::trace::tuning {
namespace {

// A micro-batch more: 100 ms until the last gradient (102 on rank 1), without a reduction.
TEST(Predictor, AddsMicroBatchesThatOnlyCompute) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  job::Settings next = job.figures.info.settings;
  next.gradient_accumulation_steps = 3;
  const auto prediction = predictor_of(job).predict(next);
  ASSERT_TRUE(prediction) << prediction.error().message;
  EXPECT_NEAR(prediction->difference_ns(), 2 * 102.0 * kMs, 1);
  EXPECT_EQ(prediction->samples, 3);
  EXPECT_NEAR(prediction->change_per_token(), (kMeanInTurn + 204.0 * kMs) / 3 / kMeanInTurn - 1,
              1e-12);
  EXPECT_TRUE(prediction->scales_computation);
  EXPECT_EQ(prediction->exposed_ns, (12.0 + 2.0) * kMs) << "rank 0 waits 4 ms more for rank 1";
  ASSERT_TRUE(prediction->difference);
  EXPECT_NEAR(prediction->difference->high_ns, 1.1 * 204.0 * kMs, 1000) << "a tenth of the change";
}

// … and with a reduction of 40 ms after each of them.
TEST(Predictor, ReducesEachMicroBatchWhereThatIsSet) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  job::Settings next = job.figures.info.settings;
  next.gradient_accumulation_steps = 3;
  next.sync_each_batch = true;
  const auto prediction = predictor_of(job).predict(next);
  ASSERT_TRUE(prediction) << prediction.error().message;
  EXPECT_NEAR(prediction->difference_ns(), 2 * (102.0 + 40.0) * kMs, 1);
  EXPECT_EQ(prediction->exposed_ns, (12.0 + 2 * 41.0) * kMs) << "42 ms on rank 0, 40 on rank 1";
}

// Twice the samples: another 102 ms until the last gradient, the same reductions.
TEST(Predictor, ComputesInProportionToTheBatch) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  job::Settings next = job.figures.info.settings;
  next.batch_per_rank *= 2;
  const auto prediction = predictor_of(job).predict(next);
  ASSERT_TRUE(prediction) << prediction.error().message;
  EXPECT_NEAR(prediction->difference_ns(), 102.0 * kMs, 1);
  EXPECT_EQ(prediction->samples, 2);
  EXPECT_EQ(prediction->exposed_ns, (12.0 + 1.0) * kMs) << "rank 0 waits 2 ms more for rank 1";
}

// An eighth of the samples leaves of 180 ms half: what is waited for is no more, whatever it was.
TEST(Predictor, WaitsForNothingLongerThanAStep) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  job.figures.summary.exposed_ns = 170.0 * kMs;
  job::Settings next = job.figures.info.settings;
  next.batch_per_rank = 1;
  const auto prediction = predictor_of(job).predict(next);
  ASSERT_TRUE(prediction) << prediction.error().message;
  EXPECT_LT(prediction->step_ns, 100.0 * kMs);
  EXPECT_DOUBLE_EQ(*prediction->exposed_ns, prediction->step_ns);
}

// 89 ms less in each of 20 steps, of a run whose mean is 21 ms.
TEST(Predictor, RefusesToSaveMoreThanAStepTakes) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  const auto recorded = job.record();
  analysis::StepFigures fast = job.figures.steps.back();
  for (auto& rank : fast.ranks) rank.step_ns = 10 * kMs;
  for (int i = 0; i < 300; ++i) {
    ++fast.index;
    job.figures.steps.push_back(fast);
  }
  const auto predictor = Predictor::create(job.figures, recorded);
  ASSERT_TRUE(predictor) << predictor.error().message;
  job::Settings next = job.figures.info.settings;
  next.batch_per_rank = 1;
  const auto refused = predictor->predict(next);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("longer than the run's mean step"), std::string::npos);
}

// Four gradients of 5 ms each, which are as large as parameters whatever the batch.
TEST(Predictor, LetsNothingGrowThatTakesAsLongWithAnyBatch) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  job.gradient_ns = 5 * kMs;
  RecordedJob same = job;
  const double steady = same.record().steady_share();
  EXPECT_NEAR(steady, 40.0 / (100 + 102), 1e-6);
  const Predictor predictor = predictor_of(job);
  const auto difference = [&](std::int64_t batch) {
    job::Settings next = job.figures.info.settings;
    next.batch_per_rank = batch;
    return predictor.predict(next)->difference_ns();
  };
  EXPECT_NEAR(difference(16), (1 - steady) * 102 * kMs, 10);
  EXPECT_NEAR(difference(4), -(1 - steady) * 51 * kMs, 10);
  EXPECT_EQ(difference(8), 0);
}

// A quarter of it grows two- to fourfold, the rest twofold: as long as 2.25 times the batch.
TEST(Predictor, LongerSequencesTakeMoreForAttentionThanForTheRest) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  job.figures.info.settings.batch_per_rank = 4;
  job.attention = 0.25;
  const Predictor predictor = predictor_of(job);
  job::Settings next = job.figures.info.settings, larger = next;
  next.sequence_length *= 2;
  larger.batch_per_rank = 9;
  const auto prediction = predictor.predict(next), as_batch = predictor.predict(larger);
  ASSERT_TRUE(prediction) << prediction.error().message;
  EXPECT_NEAR(prediction->difference_ns(), as_batch->difference_ns(), 10);
  EXPECT_EQ(prediction->samples, 1);
  EXPECT_EQ(prediction->tokens, 2);
  EXPECT_TRUE(prediction->scales_sequences);
  EXPECT_FALSE(as_batch->scales_sequences);
  ASSERT_TRUE(prediction->difference);
  EXPECT_NEAR(prediction->difference->high_ns - prediction->difference_ns(),
              std::hypot(0.1 * prediction->difference_ns(), 0.25 * kMeanInTurn), 1000);
}

// Of a quarter unsure of each micro-batch, which are four times as many.
TEST(Predictor, IsUnsureOfAttentionInEveryMicroBatch) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  job.attention = 0.25;
  job::Settings next = job.figures.info.settings;
  next.sequence_length *= 2;
  next.gradient_accumulation_steps = 4;
  const auto prediction = predictor_of(job).predict(next);
  ASSERT_TRUE(prediction) << prediction.error().message;
  ASSERT_TRUE(prediction->difference);
  EXPECT_NEAR(prediction->difference->high_ns - prediction->difference_ns(),
              std::hypot(0.1 * prediction->difference_ns(), 4 * 0.25 * kMeanInTurn), 1000);
}

TEST(Predictor, SaysWhyItKnowsNothingOfSequences) {
  RecordedJob job;
  job::Settings next = job.figures.info.settings;
  next.sequence_length *= 2;
  const auto refused = predictor_of(job).predict(next);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("attention is not known"), std::string::npos);
}

// Texts of 10 tokens, in batches that are padded to 16: what a rank has at its peak is of those,
// but of more of them one may be as long as texts may be.
TEST(Predictor, KnowsTheMemoryOfPaddedBatchesAndNothingOfOtherLengths) {
  RecordedJob job;
  job.attention = 0.25;
  give_model(job);
  const job::Settings recorded = job.figures.info.settings;
  const auto peak_of = [&](std::int64_t batch) {
    model::RunInfo info = job.figures.info;
    info.settings.batch_per_rank = batch;
    auto planned = *analysis::planned_job(job.figures.ranks.front(), info);
    planned.padded_width = batch > recorded.batch_per_rank ? 0 : 16;
    return predict::predict_peak_bytes(planned);
  };
  for (auto& rank : job.figures.ranks) {
    rank.peak.bytes[static_cast<std::size_t>(model::MemoryCategory::kActivations)] =
        peak_of(recorded.batch_per_rank);
  }
  job.text_tokens = 10;
  job.width = 16;
  const Predictor padded = predictor_of(job);
  for (const std::int64_t batch : {1, 64}) {
    job::Settings next = recorded;
    next.batch_per_rank = batch;
    const auto prediction = padded.predict(next);
    ASSERT_TRUE(prediction) << prediction.error().message;
    EXPECT_EQ(prediction->peak_bytes(), peak_of(batch));
  }
  job::Settings longer = recorded;
  longer.sequence_length *= 2;
  const auto refused = padded.predict(longer);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("sequence_length"), std::string::npos);
  EXPECT_FALSE(padded.more_bytes(longer));
  job.figures.steps.clear();
  job.text_tokens = job.width = recorded.sequence_length;
  EXPECT_TRUE(predictor_of(job).predict(longer)) << "where all are full";
}

// Of more of them the longest is longer: in between lie batches of the same width and full ones.
TEST(Predictor, OtherBatchesOfPaddedTextsMayBeAsWideAsTheirTextsAllow) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  job.figures.info.settings.batch_per_rank = 4;
  give_model(job);
  const job::Settings recorded = job.figures.info.settings;
  job.text_tokens = recorded.sequence_length / 8;
  job.width = recorded.sequence_length / 4;
  const Predictor padded = predictor_of(job);
  job.figures.steps.clear();
  job.text_tokens = job.width = recorded.sequence_length;
  const Predictor full = predictor_of(job);
  const auto with_batch = [&](const Predictor& predictor, std::int64_t batch) {
    job::Settings next = recorded;
    next.batch_per_rank = batch;
    return predictor.predict(next).value();
  };
  const auto larger = with_batch(padded, 8);
  EXPECT_TRUE(larger.scales_padding);
  ASSERT_TRUE(larger.difference);
  EXPECT_LT(larger.difference->low_ns, with_batch(full, 8).difference_ns()) << "no text is longer";
  EXPECT_GT(larger.difference->high_ns, with_batch(full, 32).difference_ns()) << "all are full";
  const auto smaller = with_batch(padded, 2);
  ASSERT_TRUE(smaller.difference);
  EXPECT_LT(smaller.difference->low_ns, with_batch(full, 1).difference_ns()) << "without padding";
  EXPECT_GT(smaller.difference->high_ns, with_batch(full, 2).difference_ns());
  EXPECT_FALSE(with_batch(full, 8).scales_padding);
}

}  // namespace
}  // namespace shardlens::trace::tuning
