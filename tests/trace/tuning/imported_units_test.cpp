// Traces of a job with units that is known are imported, and what is predicted of other settings is
// what the same job takes when it is made with those.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <type_traits>
#include <utility>

#include "tests/trace/interop/fsdp1_traces.h"
#include "tests/trace/interop/fsdp_traces.h"
#include "tests/trace/tuning/imported_job.h"
#include "tests/trace/tuning/recorded_job.h"
#include "trace/tuning/knob_curve.h"

namespace shardlens::trace::tuning {
namespace {

using interop::Fsdp1TraceWriter;
using interop::FsdpJob;
using interop::FsdpTraceWriter;
using job::Settings;
using testing::HasSubstr;

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

// As `recorded` with what the job does.
Settings settings_of(const FsdpJob& job, Settings recorded) {
  using job::BackwardPrefetch;
  using job::Strategy;
  recorded.sharding_strategy =
      job.frees_after_forward ? Strategy::kFullShard : Strategy::kShardGradOp;
  if (job.pairs > 1) {
    recorded.sharding_strategy =
        job.frees_after_forward ? Strategy::kHybridShard : Strategy::kHybridShardZero2;
    recorded.shard_group_size = 2;
  }
  recorded.backward_prefetch = !job.gathers_ahead             ? BackwardPrefetch::kNone
                               : job.gathers_behind_gradients ? BackwardPrefetch::kPost
                                                              : BackwardPrefetch::kPre;
  recorded.forward_prefetch = job.prefetches_forward;
  recorded.gradient_accumulation_steps = job.micro_batches;
  recorded.sync_each_batch = job.reduces_each;
  return recorded;
}

struct Made {
  double step_ns = 0;
  std::vector<std::string> calls;
};

template <typename Writer>
class ImportedUnits : public ImportedJob {
 protected:
  static constexpr bool kIsFsdp1 = std::is_same_v<Writer, Fsdp1TraceWriter>;

  base::Result<Predictor> learn(const FsdpJob& job) {
    return learn_job<Writer>(job, 2 * job.pairs);
  }
  static Made made(const FsdpJob& job) {
    Writer writer(job, 0);
    (void)writer.text();
    return {1e3 * writer.step_us(), writer.calls()};
  }
  static FsdpJob drawn(std::mt19937& random) {
    FsdpJob job = drawn_units(random);
    if (kIsFsdp1) job.gathers_behind_gradients = random() % 2 == 0;
    return job;
  }
  // Of what is gathered when it is needed nobody sees that it should have been ahead.
  static job::BackwardPrefetch seen_prefetch(const FsdpJob& job) {
    if (!job.frees_after_forward) return job::BackwardPrefetch::kPre;
    const bool is_too_late = job.prefetches_forward && job.gathers_behind_gradients;
    return is_too_late ? job::BackwardPrefetch::kNone : settings_of(job, {}).backward_prefetch;
  }

  // That what other settings are drawn for the job are predicted to do is what it does with them.
  void check(const FsdpJob& job, std::mt19937& random) {
    const auto predictor = learn(job);
    ASSERT_TRUE(predictor) << predictor.error().message;
    const Settings& recorded = predictor->info().settings;
    EXPECT_EQ(recorded.sharding_strategy, settings_of(job, recorded).sharding_strategy);
    EXPECT_EQ(recorded.backward_prefetch, seen_prefetch(job));
    EXPECT_EQ(recorded.forward_prefetch, job.prefetches_forward);
    FsdpJob other = job;
    other.frees_after_forward = random() % 2 == 0;
    other.prefetches_forward = random() % 2 == 0;
    other.gathers_ahead = random() % 2 == 0;
    if (kIsFsdp1) other.gathers_behind_gradients = random() % 2 == 0;
    other.micro_batches = 1 + static_cast<int>(random() % 3);
    other.reduces_each = other.micro_batches > 1 && random() % 2 == 0;
    const Settings next = settings_of(other, recorded);
    const auto prediction = predictor->predict_known(next);
    ASSERT_TRUE(prediction) << prediction.error().message;
    EXPECT_TRUE(prediction->is_of_another_program);
    EXPECT_FALSE(prediction->told_caps);
    EXPECT_TRUE(prediction->has_units);
    const Made as_recorded = made(job), as_changed = made(other);
    const auto step = predictor->predict_step(next, kTypicalStep);
    ASSERT_TRUE(step);
    std::vector<std::string> calls;
    for (const auto& call : step->program.calls) calls.push_back(call.what);
    EXPECT_EQ(calls, as_changed.calls);
    const double change = as_changed.step_ns - as_recorded.step_ns;
    if (!job.on_gpu) {
      EXPECT_NEAR(prediction->difference_ns(), change, 0.02 * as_changed.step_ns);
    } else if (!prediction->changes.empty()) {
      // How much a GPU's computation is slower beside communication is for the interval.
      const double tolerance = 0.01 * as_changed.step_ns;
      ASSERT_TRUE(prediction->difference);
      EXPECT_GE(change, prediction->difference->low_ns - tolerance);
      EXPECT_LE(change, prediction->difference->high_ns + tolerance);
    }
  }
};

using Writers = testing::Types<FsdpTraceWriter, Fsdp1TraceWriter>;
TYPED_TEST_SUITE(ImportedUnits, Writers);

TYPED_TEST(ImportedUnits, ArePredictedAsTheJobTakesWithOtherSettings) {
  std::mt19937 random(17);
  for (int round = 0; round < 32; ++round) {
    SCOPED_TRACE(round);
    this->check(this->drawn(random), random);
  }
}

TYPED_TEST(ImportedUnits, SayWhatTheyDoNotTell) {
  FsdpJob job{.units = {40'000, 60'000, 50'000}, .steps = 8};
  const auto predictor = this->learn(job);
  ASSERT_TRUE(predictor) << predictor.error().message;
  Settings next = predictor->info().settings;
  for (const job::Strategy strategy :
       {job::Strategy::kDdp, job::Strategy::kNoShard, job::Strategy::kHybridShard}) {
    next.sharding_strategy = strategy;
    const auto refused = predictor->predict_known(next);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("full_shard and shard_grad_op alone"));
  }
  const auto curve = knob_curve(*predictor, predictor->info().settings,
                                *job::find_knob("sharding_strategy"), {"ddp", "full_shard"}, 0);
  ASSERT_EQ(curve.points.size(), 1u);
  ASSERT_EQ(curve.unpredicted.size(), 1u);
  EXPECT_EQ(curve.unpredicted[0].text, "ddp");
  EXPECT_THAT(curve.unpredicted[0].why, HasSubstr("full_shard and shard_grad_op alone"));
  next.sharding_strategy = job::Strategy::kFullShard;
  next.reshard_after_forward = job::AutoBool::kFalse;
  const auto contradicting = predictor->predict_known(next);
  ASSERT_FALSE(contradicting);
  EXPECT_THAT(contradicting.error().message, HasSubstr("use auto, or shard_grad_op"));
  next.sharding_strategy = job::Strategy::kShardGradOp;
  EXPECT_TRUE(predictor->predict_known(next));
  const std::vector<const job::Knob*> asked{job::find_knob("wrap_policy")};
  const auto refused = refuse_untold(*predictor->told(), asked);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("What wrap_policy does"));
}

TYPED_TEST(ImportedUnits, OnMoreRanksUpdateSmallerShards) {
  FsdpJob job{.units = {40'000, 60'000, 50'000}, .steps = 8, .on_gpu = true};
  const auto predictor = this->learn(job);
  ASSERT_TRUE(predictor) << predictor.error().message;
  const auto share_of_update = [&](std::int64_t ranks) {
    Settings next = predictor->info().settings;
    next.ranks = ranks;
    const auto step = predictor->predict_step(next, kTypicalStep);
    if (!step) throw std::runtime_error(step.error().message);
    double share = 0;
    for (const predict::Action& action : step->program.update) {
      if (action.until == predict::Until::kUpdate) share += action.share;
    }
    return share;
  };
  EXPECT_DOUBLE_EQ(share_of_update(2), 1);
  EXPECT_DOUBLE_EQ(share_of_update(4), 0.5);
}

TYPED_TEST(ImportedUnits, NeedTheSizesOfAllUnits) {
  FsdpJob job{.units = {40'000, 60'000, 50'000}, .steps = 8, .has_shapes = false};
  const auto predictor = this->learn(job);
  ASSERT_FALSE(predictor);
  EXPECT_THAT(predictor.error().message, HasSubstr("record_shapes=True"));
}

class ImportedGroups : public ImportedUnits<FsdpTraceWriter> {};

TEST_F(ImportedGroups, ArePredictedAsTheJobTakesWithOtherSettings) {
  std::mt19937 random(23);
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    FsdpJob job = drawn(random);
    job.pairs = 2;
    check(job, random);
  }
}

TEST_F(ImportedGroups, SayWhatTheyDoNotTell) {
  FsdpJob job{.units = {40'000, 60'000, 50'000}, .steps = 8, .pairs = 2, .on_gpu = true};
  const auto predictor = learn(job);
  ASSERT_TRUE(predictor) << predictor.error().message;
  EXPECT_EQ(predictor->info().settings.shard_group_size, 2);
  Settings next = predictor->info().settings;
  next.sharding_strategy = job::Strategy::kFullShard;
  const auto refused = predictor->predict_known(next);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("hybrid_shard and hybrid_shard_zero2 alone"));
  for (const char* const knob : {"ranks", "shard_group_size"}) {
    EXPECT_FALSE(refuse_untold(*predictor->told(), {job::find_knob(knob)})) << knob;
  }
}

TEST_F(ImportedGroups, ThatAddUpInTheLastMicroBatchAloneAreRefused) {
  const auto predictor = learn({.units = {40'000, 60'000, 50'000},
                                .steps = 8,
                                .micro_batches = 2,
                                .reduces_each = true,
                                .adds_up_seldom = true,
                                .pairs = 2,
                                .on_gpu = true});
  ASSERT_FALSE(predictor);
  EXPECT_THAT(predictor.error().message, HasSubstr("set_requires_all_reduce"));
}

// As torchtitan and Accelerate keep the last of them.
class ImportedUnitsWithOneKept : public ImportedUnits<FsdpTraceWriter> {
 protected:
  static constexpr const char* kAgain[] = {"layers.1 backward gather, prefetched",
                                           "layers.0 backward gather, prefetched"};

  static std::vector<std::string> gathers_in_backward(const base::Result<PredictedStep>& step) {
    std::vector<std::string> gathers;
    for (const auto& call : step.value().program.calls) {
      if (call.what.find("backward gather") != call.what.npos) gathers.push_back(call.what);
    }
    return gathers;
  }
};

TEST_F(ImportedUnitsWithOneKept, ArePredictedAsTheJobTakesWithOtherSettings) {
  std::mt19937 random(29);
  for (int round = 0; round < 12; ++round) {
    SCOPED_TRACE(round);
    FsdpJob job = drawn(random);
    job.frees_after_forward = job.keeps_last = true;
    check(job, random);
  }
}

TEST_F(ImportedUnitsWithOneKept, KeepItAndSaySoWithEitherStrategy) {
  const FsdpJob job{.units = {40'000, 60'000, 50'000, 50'000}, .steps = 8, .keeps_last = true};
  const auto predictor = learn(job);
  ASSERT_TRUE(predictor) << predictor.error().message;
  Settings next = predictor->info().settings;
  EXPECT_EQ(next.sharding_strategy, job::Strategy::kFullShard);
  next.gradient_accumulation_steps = 2;
  next.sync_each_batch = true;
  const auto freed = predictor->predict_known(next);
  ASSERT_TRUE(freed) << freed.error().message;
  EXPECT_THAT(freed->kept_units.recorded, testing::ElementsAre("layers.2"));
  EXPECT_FALSE(freed->kept_units.are_all);
  EXPECT_THAT(gathers_in_backward(predictor->predict_step(next, kTypicalStep)),
              testing::ElementsAre(kAgain[0], kAgain[1], kAgain[0], kAgain[1]));
  next.sharding_strategy = job::Strategy::kShardGradOp;
  const auto kept = predictor->predict_known(next);
  ASSERT_TRUE(kept) << kept.error().message;
  EXPECT_TRUE(kept->kept_units.are_all);
  EXPECT_THAT(gathers_in_backward(predictor->predict_step(next, kTypicalStep)), testing::IsEmpty());
}

// A program that keeps them all does not tell which it would keep if it freed others.
TEST_F(ImportedUnitsWithOneKept, AreNotTakenFromAProgramThatKeepsAll) {
  const FsdpJob job{
      .units = {40'000, 60'000, 50'000, 50'000}, .steps = 8, .frees_after_forward = false};
  const auto predictor = learn(job);
  ASSERT_TRUE(predictor) << predictor.error().message;
  Settings next = predictor->info().settings;
  EXPECT_FALSE(predictor->predict_known(next)->kept_units.are_untold);
  next.sharding_strategy = job::Strategy::kFullShard;
  const auto freed = predictor->predict_known(next);
  ASSERT_TRUE(freed) << freed.error().message;
  EXPECT_TRUE(freed->kept_units.are_untold);
  EXPECT_THAT(gathers_in_backward(predictor->predict_step(next, kTypicalStep)),
              testing::ElementsAre("layers.2 backward gather, prefetched", kAgain[0], kAgain[1]));
}

class ImportedCopies : public ImportedUnits<FsdpTraceWriter> {
 protected:
  void expect_predicted(const FsdpJob& from, const FsdpJob& to) {
    const auto predictor = learn(from);
    ASSERT_TRUE(predictor) << predictor.error().message;
    const auto prediction = predictor->predict_known(settings_of(to, predictor->info().settings));
    ASSERT_TRUE(prediction) << prediction.error().message;
    const double after = made(to).step_ns, change = after - made(from).step_ns;
    ASSERT_GT(std::abs(change), 0.03 * after);
    EXPECT_NEAR(prediction->difference_ns(), change, 0.02 * after);
  }
};

// What the host of a CPU copies for gathers and reductions is there where they are.
TEST_F(ImportedCopies, ComeAndGoWithWhatTheyAreFor) {
  FsdpJob freed{.units = {40'000, 60'000, 50'000, 80'000}, .steps = 8};
  freed.copy_us_per_element = 0.002;
  FsdpJob kept = freed, twice = freed, each = freed;
  kept.frees_after_forward = false;
  twice.micro_batches = each.micro_batches = 2;
  each.reduces_each = true;
  expect_predicted(freed, kept);
  expect_predicted(kept, freed);
  expect_predicted(freed, each);
  expect_predicted(each, freed);
  expect_predicted(twice, each);
}

// Then the host adds up gradients instead, which takes about as long.
TEST_F(ImportedCopies, OfMicroBatchesThatReduceNothingStandForSums) {
  FsdpJob once{.units = {40'000, 60'000, 50'000, 80'000}, .steps = 8};
  once.copy_us_per_element = 0.002;
  once.adds_as_it_copies = true;
  FsdpJob twice = once, each = once;
  twice.micro_batches = each.micro_batches = 2;
  each.reduces_each = true;
  expect_predicted(once, twice);
  expect_predicted(each, twice);
}

class ImportedModules : public ImportedUnits<Fsdp1TraceWriter> {};

// FSDP1 keeps what is not freed after forward also for the next micro-batch, and so has no gathers
// in it, recorded or predicted.
TEST_F(ImportedModules, ThatAreKeptBetweenMicroBatchesTellWhenTheyAreUsed) {
  const FsdpJob kept{.units = {40'000, 60'000, 50'000},
                     .steps = 8,
                     .micro_batches = 2,
                     .frees_after_forward = false};
  FsdpJob freed = kept;
  freed.frees_after_forward = true;
  for (const auto& [from, to] : {std::pair(kept, freed), std::pair(freed, kept)}) {
    const auto predictor = learn(from);
    ASSERT_TRUE(predictor) << predictor.error().message;
    const auto step =
        predictor->predict_step(settings_of(to, predictor->info().settings), kTypicalStep);
    ASSERT_TRUE(step) << step.error().message;
    std::vector<std::string> calls;
    for (const auto& call : step->program.calls) calls.push_back(call.what);
    EXPECT_EQ(calls, made(to).calls);
  }
}

TEST_F(ImportedModules, ThatAreNotShardedAreRefused) {
  const auto predictor = learn({.units = {40'000, 60'000, 50'000}, .steps = 8, .shards = false});
  ASSERT_FALSE(predictor);
  EXPECT_THAT(predictor.error().message, HasSubstr("NO_SHARD"));
}

}  // namespace
}  // namespace shardlens::trace::tuning
