// Traces of a job with units that is known are imported, and what is predicted of other settings is
// what the same job takes when it is made with those.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/trace/interop/fsdp_traces.h"
#include "tests/trace/tuning/imported_job.h"
#include "tests/trace/tuning/recorded_job.h"

namespace shardlens::trace::tuning {
namespace {

using interop::FsdpJob;
using interop::FsdpTraceWriter;
using job::Settings;
using testing::HasSubstr;

class ImportedUnits : public ImportedJob {
 protected:
  base::Result<Predictor> learn(const FsdpJob& job) { return learn_job<FsdpTraceWriter>(job); }
};

FsdpJob drawn_units(std::mt19937& random) {
  FsdpJob job;
  job.units.resize(3 + random() % 8);
  for (auto& elements : job.units) {
    elements = 2 * (10'000 + static_cast<std::int64_t>(random() % 40'000));
  }
  job.steps = 20;
  job.micro_batches = 1 + static_cast<int>(random() % 2);
  job.reduces_each = job.micro_batches > 1 && random() % 2 == 0;
  job.on_gpu = random() % 2 == 0;
  job.frees_after_forward = random() % 2 == 0;
  job.prefetches_forward = random() % 2 == 0;
  job.gathers_ahead = !job.frees_after_forward || random() % 3 != 0;
  job.forward_us = 100 + static_cast<double>(random() % 400);
  job.backward_us = 100 + static_cast<double>(random() % 800);
  job.us_per_element = 0.0005 + 0.0001 * static_cast<double>(random() % 30);
  return job;
}

Settings settings_of(const FsdpJob& job, Settings settings) {
  settings.sharding_strategy =
      job.frees_after_forward ? job::Strategy::kFullShard : job::Strategy::kShardGradOp;
  settings.backward_prefetch =
      job.gathers_ahead ? job::BackwardPrefetch::kPre : job::BackwardPrefetch::kNone;
  settings.forward_prefetch = job.prefetches_forward;
  settings.gradient_accumulation_steps = job.micro_batches;
  settings.sync_each_batch = job.reduces_each;
  return settings;
}

struct Made {
  double step_ns = 0;
  std::vector<std::string> calls;
};

Made made(const FsdpJob& job) {
  FsdpTraceWriter writer(job, 0);
  (void)writer.text();
  return {1e3 * writer.step_us(), writer.calls()};
}

TEST_F(ImportedUnits, ArePredictedAsTheJobTakesWithOtherSettings) {
  std::mt19937 random(17);
  for (int round = 0; round < 32; ++round) {
    const FsdpJob job = drawn_units(random);
    const auto predictor = learn(job);
    ASSERT_TRUE(predictor) << round << ": " << predictor.error().message;
    const Settings& recorded = predictor->info().settings;
    EXPECT_EQ(recorded.sharding_strategy, settings_of(job, recorded).sharding_strategy) << round;
    EXPECT_EQ(recorded.backward_prefetch, settings_of(job, recorded).backward_prefetch) << round;
    EXPECT_EQ(recorded.forward_prefetch, job.prefetches_forward) << round;
    FsdpJob other = job;
    other.frees_after_forward = random() % 2 == 0;
    other.prefetches_forward = random() % 2 == 0;
    other.gathers_ahead = random() % 2 == 0;
    other.micro_batches = 1 + static_cast<int>(random() % 3);
    other.reduces_each = other.micro_batches > 1 && random() % 2 == 0;
    const Settings next = settings_of(other, recorded);
    const auto prediction = predictor->predict_known(next);
    ASSERT_TRUE(prediction) << round << ": " << prediction.error().message;
    EXPECT_TRUE(prediction->is_of_another_program);
    EXPECT_FALSE(prediction->told_caps);
    EXPECT_TRUE(prediction->has_units);
    const Made as_recorded = made(job), as_changed = made(other);
    const auto step = predictor->predict_step(next, kTypicalStep);
    ASSERT_TRUE(step);
    std::vector<std::string> calls;
    for (const auto& call : step->program.calls) calls.push_back(call.what);
    EXPECT_EQ(calls, as_changed.calls) << round;
    const double change = as_changed.step_ns - as_recorded.step_ns;
    if (!job.on_gpu) {
      EXPECT_NEAR(prediction->difference_ns(), change, 0.02 * as_changed.step_ns) << round;
    } else if (!prediction->changes.empty()) {
      // How much a GPU's computation is slower beside communication is for the interval.
      const double tolerance = 0.01 * as_changed.step_ns;
      ASSERT_TRUE(prediction->difference) << round;
      EXPECT_GE(change, prediction->difference->low_ns - tolerance) << round;
      EXPECT_LE(change, prediction->difference->high_ns + tolerance) << round;
    }
  }
}

TEST_F(ImportedUnits, SayWhatTheyDoNotTell) {
  FsdpJob job{.units = {40'000, 60'000, 50'000}, .steps = 8};
  const auto predictor = learn(job);
  ASSERT_TRUE(predictor) << predictor.error().message;
  Settings next = predictor->info().settings;
  for (const job::Strategy strategy :
       {job::Strategy::kDdp, job::Strategy::kNoShard, job::Strategy::kHybridShard}) {
    next.sharding_strategy = strategy;
    const auto refused = predictor->predict_known(next);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("full_shard and shard_grad_op alone"));
  }
  const std::vector<const job::Knob*> asked{job::find_knob("wrap_policy")};
  const auto refused = refuse_untold(*predictor->told(), asked);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("What wrap_policy does"));
}

TEST_F(ImportedUnits, NeedTheSizesOfAllUnits) {
  FsdpJob job{.units = {40'000, 60'000, 50'000}, .steps = 8, .has_shapes = false};
  const auto predictor = learn(job);
  ASSERT_FALSE(predictor);
  EXPECT_THAT(predictor.error().message, HasSubstr("record_shapes=True"));
}

}  // namespace
}  // namespace shardlens::trace::tuning
