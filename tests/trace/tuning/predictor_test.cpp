#include "trace/tuning/predictor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/trace/tuning/recorded_job.h"
#include "trace/analysis/figures/memory_figures.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/shape_text.h"
#include "trace/predict/memory/memory_model.h"

namespace shardlens::trace::tuning {
namespace {

// Of the made-up steps, with and without overlap.
constexpr double kMean = 150.05 * kMs, kMeanInTurn = 180.05 * kMs;

Predictor predictor_of(RecordedJob& job) {
  const auto recorded = job.record();
  auto predictor = Predictor::create(job.figures, recorded);
  if (!predictor) throw std::runtime_error(predictor.error().message);
  return *predictor;
}

job::Settings with_cap(const RecordedJob& job, double cap_mb) {
  job::Settings next = job.figures.info.settings;
  next.bucket_cap_mb = cap_mb;
  return next;
}

TEST(Predictor, WithoutAChangePredictsWhatWasMeasured) {
  RecordedJob job;
  const auto prediction = predictor_of(job).predict(job.figures.info.settings);
  ASSERT_TRUE(prediction);
  EXPECT_TRUE(prediction->changes.empty());
  EXPECT_EQ(prediction->parts, 4u);
  EXPECT_EQ(prediction->steps, 20);
  EXPECT_DOUBLE_EQ(prediction->recorded_step_ns, kMean);
  EXPECT_DOUBLE_EQ(prediction->step_ns, kMean);
  EXPECT_FALSE(prediction->difference);
  EXPECT_EQ(prediction->exposed_ns, 12.0 * kMs);
}

// How much of it each would have depends on what the others ask of it.
TEST(Predictor, KnowsNothingOfOtherRanksOnASharedGpu) {
  RecordedJob job;
  job.figures.info.shared_gpu = true;
  job::Settings more = job.figures.info.settings;
  more.ranks = 4;
  const auto refused = predictor_of(job).predict(more);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("share a GPU"), std::string::npos);
  EXPECT_TRUE(predictor_of(job).predict(with_cap(job, 4)));
}

TEST(Predictor, OfOneRankNothingIsExposed) {
  RecordedJob job;
  job.figures.ranks.resize(2);
  for (auto& rank : job.figures.ranks) rank.info.device_name = "made up, 8 cores";
  for (auto& rank : job.figures.ranks) rank.info.device = "cpu";
  job.figures.info.settings.threads_per_rank = 1;
  job::Settings alone = job.figures.info.settings;
  alone.ranks = 1;
  job.figures.summary.exposed_ns = 50.0 * kMs;  // of which the schedule tells a part
  const auto prediction = predictor_of(job).predict(alone);
  ASSERT_TRUE(prediction) << prediction.error().message;
  EXPECT_EQ(prediction->exposed_ns, 0.0);
}

// Which parameters a rank owns follows from the model's shape, which this run does not tell.
TEST(Predictor, KnowsNothingOfZero1WithoutTheModelsShape) {
  for (const bool is_recorded : {false, true}) {
    RecordedJob job;
    job::Settings& recorded = job.figures.info.settings;
    job::Settings next = recorded;
    (is_recorded ? recorded : next).sharding_strategy = job::Strategy::kZero1;
    const auto refused = predictor_of(job).predict(next);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("zero1"), std::string::npos) << refused.error().message;
    next = recorded;
    next.bucket_cap_mb = 2;
    EXPECT_TRUE(predictor_of(job).predict(next)) << "it is zero1 on neither side, or on both";
  }
}

// Ready at 102 ms, then four transfers of 10 ms against two of what lies between 10 ms for 1 MiB
// and 25 ms for 4 MiB: 15 ms each.
TEST(Predictor, AddsWhatFewerTransfersSave) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  const auto prediction = predictor_of(job).predict(with_cap(job, 2));
  ASSERT_TRUE(prediction) << prediction.error().message;
  ASSERT_EQ(prediction->changes.size(), 2u) << "first_bucket_mb follows";
  EXPECT_EQ(prediction->parts, 2u);
  EXPECT_DOUBLE_EQ(prediction->difference_ns(), -10.0 * kMs);
  EXPECT_DOUBLE_EQ(*prediction->exposed_ns, 2.0 * kMs);
  EXPECT_FALSE(prediction->is_extrapolated);
  EXPECT_FALSE(prediction->depends_on_contention) << "nothing overlaps";
  ASSERT_TRUE(prediction->difference);
  EXPECT_NEAR(prediction->difference->low_ns, -10.0 * kMs, 1) << "all steps agree";
}

// What is not known of a change is left out, by name, and changes nothing of the rest.
TEST(Predictor, PredictsTheRestOfWhatChanges) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  const Predictor predictor = predictor_of(job);
  job::Settings next = with_cap(job, 2);
  const auto alone = predictor.predict(next);
  next.gradient_as_bucket_view = !next.gradient_as_bucket_view;
  next.learning_rate *= 2;
  const auto refused = predictor.predict(next);
  ASSERT_FALSE(refused) << "it would not be of all changes";
  EXPECT_NE(refused.error().message.find("gradient_as_bucket_view"), std::string::npos);
  const auto rest = predictor.predict_known(next);
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(rest->step_ns, alone->step_ns);
  EXPECT_EQ(rest->changes.size(), alone->changes.size());
  ASSERT_EQ(rest->left_out.size(), 1u);
  EXPECT_EQ(rest->left_out.front()->name, "gradient_as_bucket_view");
  ASSERT_EQ(rest->without_effect.size(), 1u);
  EXPECT_EQ(rest->without_effect.front()->name, "learning_rate");
  EXPECT_EQ(predictor.predict_with_step(next, 7)->step.end_ns,
            predictor.predict_with_step(with_cap(job, 2), 7)->step.end_ns);
}

TEST(Predictor, AStepTakesAsLongWhateverTheLearningRate) {
  RecordedJob job;
  job::Settings next = job.figures.info.settings;
  next.learning_rate *= 2;
  const auto prediction = predictor_of(job).predict(next);
  ASSERT_TRUE(prediction) << prediction.error().message;
  EXPECT_TRUE(prediction->changes.empty());
  EXPECT_DOUBLE_EQ(prediction->step_ns, kMean);
}

// Four gradients of 1 MiB each.
TEST(Predictor, SaysThatTheSameMoves) {
  RecordedJob job;
  const Predictor predictor = predictor_of(job);
  const auto same = predictor.predict(with_cap(job, 0.75));
  ASSERT_TRUE(same) << same.error().message;
  EXPECT_TRUE(same->moves_the_same);
  EXPECT_DOUBLE_EQ(same->difference_ns(), 0);
  EXPECT_FALSE(predictor.predict(with_cap(job, 2))->moves_the_same);
}

// After a first bucket of 1 MiB one of 3 MiB: 20 ms after the last gradient instead of 10 ms, and
// 20 ms less of work under computation, half of which makes that faster.
TEST(Predictor, SpansWhatContentionMayBe) {
  RecordedJob job;
  const auto prediction = predictor_of(job).predict(with_cap(job, 25));
  ASSERT_TRUE(prediction) << prediction.error().message;
  EXPECT_EQ(prediction->parts, 2u);
  EXPECT_TRUE(prediction->depends_on_contention);
  EXPECT_DOUBLE_EQ(prediction->contention_range, 1) << "no gradient has a name that tells it";
  EXPECT_NEAR(prediction->difference_ns(), (10.0 - 20.0 / 2) * kMs, 1);
  ASSERT_TRUE(prediction->difference);
  EXPECT_NEAR(prediction->difference->low_ns, (10.0 - 20.0) * kMs, 10);
  EXPECT_NEAR(prediction->difference->high_ns, 10.0 * kMs, 10);
  EXPECT_DOUBLE_EQ(*prediction->exposed_ns, (12.0 + 10.0) * kMs);
}

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

TEST(Predictor, SaysWhyItKnowsNothingOfSequences) {
  RecordedJob job;
  job::Settings next = job.figures.info.settings;
  next.sequence_length *= 2;
  const auto refused = predictor_of(job).predict(next);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("attention is not known"), std::string::npos);
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

// On a CPU, with a model whose shape is known.
job::ModelShape give_model(RecordedJob& job) {
  const auto shape = *job::find_model_preset("tiny");
  job.figures.ranks.resize(2);
  for (auto& rank : job.figures.ranks) {
    rank.info.device = "cpu";
    rank.info.model = job::shape_text(shape);
    rank.info.parameters = job::parameter_count(shape);
  }
  return shape;
}

// Every step waits for it, whatever its buckets do.
TEST(Predictor, ExchangesTheLossOnAnotherLinkAndNotOnOneRank) {
  const auto difference_ns = [](std::int64_t loss_ns, const char* link, std::int64_t ranks) {
    RecordedJob job;
    job.loss_ns = loss_ns;
    job.figures.ranks.resize(2);
    for (auto& rank : job.figures.ranks) rank.info.device_name = "made up, 8 cores";
    for (auto& rank : job.figures.ranks) rank.info.device = "cpu";
    job.figures.info.settings.threads_per_rank = 1;
    job.figures.info.settings.bucket_cap_mb = 4;
    job::Settings next = job.figures.info.settings;
    next.simulate_link = link;
    next.ranks = ranks;
    return predictor_of(job).predict(next).value().difference_ns();
  };
  const char* const link = "latency_us=100000,gbit_per_s=1000";
  EXPECT_NEAR(difference_ns(5 * kMs, link, 2) - difference_ns(0, link, 2), 95.0 * kMs, 0.1 * kMs);
  EXPECT_NEAR(difference_ns(5 * kMs, "off", 1) - difference_ns(0, "off", 1), -5.0 * kMs, 0.1 * kMs);
}

// Between the loss's few bytes and those of a bucket nothing was measured, but of more ranks it is
// hardly more bytes.
TEST(Predictor, ExchangesTheLossOfOtherRanksInWhatItTook) {
  RecordedJob job;
  job.loss_ns = kMs / 2;
  job.figures.ranks.resize(2);
  for (auto& rank : job.figures.ranks) rank.info.device_name = "made up, 8 cores";
  for (auto& rank : job.figures.ranks) rank.info.device = "cpu";
  job.figures.info.settings.threads_per_rank = 1;
  job::Settings next = job.figures.info.settings;
  for (const std::int64_t ranks : {4, 8}) {
    next.ranks = ranks;
    const auto step = predictor_of(job).predict_step(next, 10);
    ASSERT_TRUE(step) << step.error().message;
    const auto& calls = step->program.calls;
    const auto loss = std::ranges::find(calls, "loss", &predict::PlannedCall::what);
    ASSERT_NE(loss, calls.end());
    EXPECT_NEAR(loss->transfer_ns, kMs / 2 * 2 * (ranks - 1) / ranks, kMs / 100) << ranks;
  }
}

// Rank 0 owns the table, the other one all else.
TEST(Predictor, EachRankUpdatesAllThatRanksOfZero1Owned) {
  RecordedJob job;
  auto shape = give_model(job);
  shape.layers = 2;
  shape.vocabulary = 20'000;
  for (auto& rank : job.figures.ranks) {
    rank.info.model = job::shape_text(shape);
    rank.info.parameters = job::parameter_count(shape);
  }
  job.figures.info.settings.sharding_strategy = job::Strategy::kZero1;
  job.figures.info.settings.bucket_cap_mb = 16;
  job.transfer_ns = {{kMib, kMs}, {4 * kMib, kMs + kMs / 5}};
  job.optimizer_ns = {24 * kMs, 6 * kMs};
  job::Settings next = job.figures.info.settings;
  next.sharding_strategy = job::Strategy::kDdp;
  const auto step = predictor_of(job).predict_step(next, kTypicalStep);
  ASSERT_TRUE(step) << step.error().message;
  const auto& schedule = step->schedule;
  EXPECT_NEAR(schedule.end_ns - schedule.backward_end_ns, 30 * kMs, 10);
  EXPECT_NEAR(schedule.mean_ns, schedule.end_ns - schedule.start_ns, 10) << "on both ranks";
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

// A prediction of what is not known is none.
TEST(Predictor, RecomputesOnlyWhereTheModelIsKnown) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  job::Settings next = job.figures.info.settings;
  next.activation_checkpointing = 1;
  EXPECT_FALSE(predictor_of(job).predict(next)) << "nothing tells the model";
  const auto shape = give_model(job);
  job.figures.steps.clear();
  const auto all = predictor_of(job).predict(next);
  ASSERT_TRUE(all) << all.error().message;
  next.activation_checkpointing = 2;
  const auto half = predictor_of(job).predict(next);
  ASSERT_TRUE(half);
  EXPECT_GT(all->difference_ns(), 0.5 * 25 * kMs) << "most of forward's 25 ms";
  EXPECT_LT(all->difference_ns(), 25.0 * kMs) << "but not what follows the blocks";
  const auto blocks = static_cast<double>(shape.layers);
  EXPECT_NEAR(half->difference_ns(), all->difference_ns() * std::ceil(blocks / 2) / blocks, 2);
}

TEST(Predictor, SaysWhereSomeBlocksAloneHaveAdapters) {
  RecordedJob job;
  job::Settings& recorded = job.figures.info.settings;
  recorded.lora_rank = 4;
  recorded.lora_target_modules = "h.0.mlp.c_fc";
  const auto shape = give_model(job);
  for (auto& rank : job.figures.ranks) {
    rank.info.parameters = job::trained_share(shape, recorded).all;
  }
  job::Settings next = recorded;
  next.activation_checkpointing = 1;
  const auto refused = predictor_of(job).predict(next);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("blocks alone have adapters"), std::string::npos)
      << refused.error().message;
  EXPECT_TRUE(predictor_of(job).predict(with_cap(job, 2)));
}

// Half the bytes: 10 ms for a MiB and 25 for four make 7.5 ms for half of one; a MiB is cast in
// 0.2 ms.
TEST(Predictor, MovesHalfTheBytesInSixteenBits) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  job::Settings next = job.figures.info.settings;
  next.communication_hook = job::CommunicationHook::kBf16Compress;
  const auto prediction = predictor_of(job).predict(next);
  ASSERT_TRUE(prediction) << prediction.error().message;
  EXPECT_NEAR(prediction->difference_ns(), 4 * (7.5 - 10 + 0.2 * 1.048576) * kMs, 4);
  EXPECT_TRUE(prediction->is_extrapolated);
}

// However many reductions a prediction is of, it takes a frame's time: fewer steps stand for all.
TEST(Predictor, LeavesStepsOutRatherThanFrames) {
  RecordedJob job;
  job.steps = 64;
  job::Settings next = job.figures.info.settings;
  next.gradient_accumulation_steps = 4096;
  next.sync_each_batch = true;
  const auto prediction = predictor_of(job).predict(next);
  ASSERT_TRUE(prediction) << prediction.error().message;
  EXPECT_EQ(prediction->steps, 16);
  EXPECT_TRUE(prediction->interval);
}

// Those that are asked for, of which there may be many more than recorded ones.
TEST(Predictor, LeavesStepsOutForTheRanksThatItSchedules) {
  RecordedJob job;
  job.steps = 64;
  job.figures.ranks.resize(2);
  for (auto& rank : job.figures.ranks) rank.info.device_name = "made up, 8 cores";
  for (auto& rank : job.figures.ranks) rank.info.device = "cpu";
  job::Settings next = job.figures.info.settings;
  next.threads_per_rank = job.figures.info.settings.threads_per_rank = 1;
  next.gradient_accumulation_steps = 32;
  next.sync_each_batch = true;
  const Predictor predictor = predictor_of(job);
  const auto as_recorded = predictor.predict(next);
  ASSERT_TRUE(as_recorded) << as_recorded.error().message;
  EXPECT_EQ(as_recorded->steps, 64);
  next.ranks = 64;
  const auto prediction = predictor.predict(next);
  ASSERT_TRUE(prediction) << prediction.error().message;
  EXPECT_EQ(prediction->steps, 16);
}

TEST(Predictor, ShowsTheStepThatIsAskedFor) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  const Predictor predictor = predictor_of(job);
  const auto forecast = predictor.predict_with_step(with_cap(job, 2), 7);
  ASSERT_TRUE(forecast) << forecast.error().message;
  EXPECT_EQ(forecast->prediction.step_ns, predictor.predict(with_cap(job, 2))->step_ns);
  const PredictedStep* step = &forecast->step;
  EXPECT_EQ(step->index, 7);
  EXPECT_EQ(step->start_ns, 2400 * kMs);
  EXPECT_EQ(step->recorded_end_ns, 2400 * kMs + 180 * kMs + kMs / 10);
  EXPECT_EQ(step->end_ns, step->recorded_end_ns - 10 * kMs);
  ASSERT_EQ(step->schedule.calls.size(), 2u);
  EXPECT_EQ(step->schedule.calls[1].end_ns, 2400 * kMs + (102 + 30) * kMs);
  EXPECT_EQ(step->program.calls[1].what, "bucket 1");
  const auto other = predictor.predict_with_step(with_cap(job, 2), 1000);
  ASSERT_TRUE(other);
  EXPECT_LE(other->step.index, 20) << "the typical one stands for a step that tells nothing";
}

// A call of a MiB takes 10 ms, in the last of 20 steps 30, so that the schedule of any other step,
// with their mean of 11 ms, is 4 ms longer than the step was. One of 4 MiB takes 34 ms, of which
// the link has 33.75, and not less in a step that is drawn as much shorter.
TEST(Predictor, DrawsNoTransferShorterThanItsLink) {
  RecordedJob job;
  job.figures.info.settings.overlap_comm = false;
  job.figures.info.settings.simulate_link = "latency_us=200,gbit_per_s=1";
  job.transfer_ns = {{kMib, 10 * kMs}, {4 * kMib, 34 * kMs}};
  job.held_up_ns = 20 * kMs;
  job.optimizer_ns = {38 * kMs, 38 * kMs};
  const Predictor predictor = predictor_of(job);
  const auto link_ns = [](std::int64_t bytes) { return kMs / 5 + 8 * bytes; };
  const auto was = predictor.recorded_step(10);
  ASSERT_EQ(was.recorded_end_ns, begin_of_step(10) + 180 * kMs);
  EXPECT_EQ(was.end_ns, was.recorded_end_ns);
  EXPECT_EQ(was.schedule.end_ns, was.recorded_end_ns) << "it is drawn shorter";
  ASSERT_EQ(was.schedule.calls.size(), 4u);
  for (const auto& call : was.schedule.calls) {
    EXPECT_GE(call.end_ns - call.start_ns, link_ns(kMib));
    EXPECT_LT(call.end_ns - call.start_ns, 11 * kMs);
  }
  const auto is = predictor.predict_step(with_cap(job, 4), 10);
  ASSERT_TRUE(is) << is.error().message;
  ASSERT_EQ(is->schedule.calls.size(), 1u);
  const auto& call = is->schedule.calls.front();
  EXPECT_GE(call.end_ns - call.start_ns, link_ns(4 * kMib));
  EXPECT_LT(call.end_ns - call.start_ns, 34 * kMs);
  EXPECT_EQ(is->end_ns, is->schedule.end_ns);
  EXPECT_LT(is->end_ns, begin_of_step(10) + (102 + 34 + 38) * kMs);
}

TEST(Predictor, SaysThatTheRunFailed) {
  RecordedJob job;
  EXPECT_FALSE(predictor_of(job).predict(with_cap(job, 4))->is_of_failed_run);
  RecordedJob failed;
  failed.figures.info.status = model::RunStatus::kFailed;
  EXPECT_TRUE(predictor_of(failed).predict(with_cap(failed, 4))->is_of_failed_run);
}

TEST(Predictor, SaysWhetherItIsOfGpusAndWhetherRanksShareOne) {
  for (const bool shares : {false, true}) {
    RecordedJob job;
    EXPECT_FALSE(predictor_of(job).predict(with_cap(job, 4))->is_on_gpus);
    job.figures.info.device = "cuda";
    job.figures.info.shared_gpu = shares;
    const auto prediction = predictor_of(job).predict(with_cap(job, 4));
    ASSERT_TRUE(prediction) << prediction.error().message;
    EXPECT_TRUE(prediction->is_on_gpus);
    EXPECT_EQ(prediction->shares_gpu, shares);
  }
}

TEST(Predictor, NeedsSomeSteps) {
  RecordedJob few;
  few.steps = 3;
  const auto recorded = few.record();
  const auto predictor = Predictor::create(few.figures, recorded);
  ASSERT_FALSE(predictor);
  EXPECT_NE(predictor.error().message.find("this run has 3. Record one with more steps."),
            std::string::npos);
}

// Of a run that goes on that is no fault.
TEST(Predictor, SaysOfARunThatGoesOnHowManyStepsItStillNeeds) {
  const auto why_not = [](int steps, const char* record) {
    RecordedJob job;
    job.steps = steps;
    job.figures.info.status = model::RunStatus::kRunning;
    job.figures.info.settings.record = record;
    const auto recorded = job.record();
    const auto predictor = Predictor::create(job.figures, recorded);
    return predictor ? "" : predictor.error().message;
  };
  EXPECT_NE(why_not(3, "every step").find("has 3 so far: 1 more is needed."), std::string::npos);
  EXPECT_NE(why_not(0, "every step").find("has none so far: 4 more are needed."),
            std::string::npos);
  EXPECT_NE(why_not(3, "none").find("Record one with record: every step."), std::string::npos);
  EXPECT_EQ(why_not(4, "every step"), "");
}

// Whatever the settings: they lead back to where they came from, a slower link is never faster, and
// intervals hold what they are of.
TEST(Predictor, ContradictsItselfInNoCombination) {
  std::mt19937 random(20261124);
  const auto draw = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  for (int round = 0; round < 200; ++round) {
    RecordedJob job;
    job::Settings& settings = job.figures.info.settings;
    settings.overlap_comm = draw(0, 1) < 0.8;
    if (draw(0, 1) < 0.5) settings.simulate_link = "latency_us=200,gbit_per_s=1";
    job.transfer_ns = {{kMib, std::llround(draw(10, 20) * kMs)},
                       {4 * kMib, std::llround(draw(35, 60) * kMs)}};
    const Predictor predictor = predictor_of(job);
    EXPECT_DOUBLE_EQ(predictor.predict(settings)->difference_ns(), 0);
    job::Settings next = with_cap(job, draw(0.5, 16));
    next.overlap_comm = draw(0, 1) < 0.8;
    next.gradient_accumulation_steps = std::llround(draw(1, 4));
    next.sync_each_batch = next.gradient_accumulation_steps > 1 && draw(0, 1) < 0.3;
    next.batch_per_rank = std::llround(draw(1, 16));
    if (draw(0, 1) < 0.3) next.communication_hook = job::CommunicationHook::kFp16Compress;
    double before = 0;
    for (const char* link : {"latency_us=200,gbit_per_s=1", "latency_us=400,gbit_per_s=0.5",
                             "latency_us=400,gbit_per_s=0.1"}) {
      next.simulate_link = link;
      const auto prediction = predictor.predict(next);
      ASSERT_TRUE(prediction) << prediction.error().message;
      ASSERT_TRUE(prediction->interval) << round;
      EXPECT_LE(prediction->interval->low_ns, prediction->step_ns);
      EXPECT_GE(prediction->interval->high_ns, prediction->step_ns);
      const auto forecast = predictor.predict_with_step(next, kTypicalStep);
      std::int64_t free_ns = 0;
      for (const auto& call : forecast->step.schedule.calls) {
        EXPECT_GE(call.start_ns, std::max(call.ready_ns, free_ns));
        free_ns = call.end_ns;
      }
      EXPECT_GE(prediction->step_ns, before) << round << " " << link;
      before = prediction->step_ns;
    }
    ASSERT_EQ(settings.ranks, 2);
    next.simulate_link = "latency_us=400,gbit_per_s=0.1,nodes=2";
    EXPECT_DOUBLE_EQ(predictor.predict(next)->step_ns, before) << "a rank on each node";
    next.simulate_link = "latency_us=400,gbit_per_s=0.1,nodes=1";
    EXPECT_LE(predictor.predict(next)->step_ns, before) << "nothing lies between";
  }
}

}  // namespace
}  // namespace shardlens::trace::tuning
