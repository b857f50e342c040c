#include "trace/tuning/predictor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>

#include "tests/trace/tuning/recorded_job.h"
#include "tests/trace/tuning/recorded_predictor.h"

namespace shardlens::trace::tuning {
namespace {

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
