// Where each rule about buckets must speak, and where it must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace/advice/advised_run.h"
#include "trace/advice/facts/what_if.h"

namespace shardlens::trace::advice {
namespace {

using ::testing::HasSubstr;

// Buckets wait for the last gradient: four of 10 ms where one of 25 ms would do.
AdvisedRun four_where_one_would_do() {
  AdvisedRun run;
  run.settings().overlap_comm = false;
  return run;
}

// Four transfers of 10 ms behind the last gradient, or the last one alone.
TEST(OverlapRule, SpeaksWhereBucketsWaitForTheEndOfBackward) {
  AdvisedRun run = four_where_one_would_do();
  const auto advice = asked(run, "overlap");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"overlap_comm", "true"}}));
  EXPECT_FALSE(advice->evidence.empty());
  AdvisedRun overlaps;
  EXPECT_FALSE(asked(overlaps, "overlap"));
  AdvisedRun hidden = four_where_one_would_do();
  hidden.figures().summary.exposed_ns = hidden.facts().noticeable_ns() / 2;
  EXPECT_FALSE(asked(hidden, "overlap"));
}

TEST(BucketCapRule, SpeaksWhereAnotherCapIsFasterAndGainsWhatThePredictorSays) {
  AdvisedRun run = four_where_one_would_do();
  const auto advice = of_rule(run.advise(), "bucket_cap");
  ASSERT_TRUE(advice);
  ASSERT_EQ(advice->changes, (std::vector<KnobValue>{{"bucket_cap_mb", "4"}}));
  EXPECT_EQ(advice->title, "Raise the bucket cap to 4 MiB");
  ASSERT_TRUE(advice->gain);
  job::Settings next = run.settings();
  next.bucket_cap_mb = 4;
  const auto predicted = run.facts().predictor->predict(next);
  ASSERT_TRUE(predicted);
  EXPECT_DOUBLE_EQ(advice->gain->ns, -predicted->difference_ns());
  EXPECT_DOUBLE_EQ(advice->gain->interval.low_ns, -predicted->difference->high_ns);
  EXPECT_DOUBLE_EQ(advice->gain->interval.high_ns, -predicted->difference->low_ns);
  EXPECT_DOUBLE_EQ(advice->gain->ns, 15.0 * kMs) << "4 × 10 ms, or 25 ms at once";
  const Evidence& shown = advice->evidence.front();
  EXPECT_EQ(shown.end_ns - shown.start_ns, 40 * kMs) << "behind the last rank's last gradient";
}

// What is predicted is said all the same, with what is missing; it is no gain that is known. The
// job's steps differ by the same, of which ten tell as much as fourteen that vary.
TEST(BucketCapRule, OfFewStepsSaysThatItIsNotKnownHowSureTheGainIs) {
  AdvisedRun run = four_where_one_would_do();
  run.job.steps = 9;
  const auto advice = of_rule(run.advise(), "bucket_cap");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"bucket_cap_mb", "4"}}));
  EXPECT_FALSE(advice->gain);
  EXPECT_THAT(advice->gain_unknown, HasSubstr("predicted to save 15.0 ms"));
  EXPECT_THAT(advice->gain_unknown, HasSubstr("at least 14 steps to tell; this run has 9"));
  AdvisedRun same = four_where_one_would_do();
  same.job.steps = 9;
  same.job.transfer_ns = {{kMib, 10 * kMs}, {4 * kMib, 40 * kMs}};  // no latency to save
  EXPECT_FALSE(of_rule(same.advise(), "bucket_cap"));
  AdvisedRun overlapping;  // contention may take what it gains, which no step more would tell
  overlapping.job.steps = 9;
  EXPECT_FALSE(of_rule(overlapping.advise(), "bucket_cap"));
}

// What is for memory is said all the same, with the mean and why it is not sure, too few steps or
// others.
TEST(AddedGain, OfLessMemorySaysWhyItIsNotKnownHowSureItsTimeIs) {
  AdvisedRun run = four_where_one_would_do();
  run.job.steps = 9;
  run.job.transfer_ns = {{kMib, 10 * kMs}, {4 * kMib, 60 * kMs}};  // slower in one
  Advice advice;
  advice.aim = Aim::kMemory;
  advice.changes = {{"bucket_cap_mb", "4"}};
  ASSERT_TRUE(add_gain(run.facts(), advice));
  EXPECT_FALSE(advice.gain);
  EXPECT_THAT(advice.gain_unknown, HasSubstr("A step is predicted to take "));
  EXPECT_THAT(advice.gain_unknown, HasSubstr("at least 14 steps to tell; this run has 9"));
}

TEST(AddedGain, OfLessMemorySaysThatAStepTakesAsLong) {
  AdvisedRun run = four_where_one_would_do();
  run.job.transfer_ns = {{kMib, 10 * kMs}, {4 * kMib, 40 * kMs}};  // the same in one
  Advice advice;
  advice.aim = Aim::kMemory;
  advice.changes = {{"bucket_cap_mb", "4"}};
  ASSERT_TRUE(add_gain(run.facts(), advice));
  EXPECT_EQ(advice.gain_unknown, "A step is predicted to take as long.");
}

TEST(BucketCapRule, IsSilentWhereGainsMayBeChance) {
  AdvisedRun run;  // overlaps: contention may take what it gains
  EXPECT_FALSE(asked(run, "bucket_cap"));
  AdvisedRun same = four_where_one_would_do();
  same.job.transfer_ns = {{kMib, 10 * kMs}, {4 * kMib, 40 * kMs}};  // no latency to save
  EXPECT_FALSE(asked(same, "bucket_cap"));
}

TEST(BucketCapRule, FreesAFirstBucketThatWasGivenItsOwnCap) {
  AdvisedRun run = four_where_one_would_do();
  run.settings().first_bucket_mb = 1;
  const auto advice = asked(run, "bucket_cap");
  ASSERT_TRUE(advice);
  const std::vector<KnobValue> both{{"bucket_cap_mb", "4"}, {"first_bucket_mb", "auto"}};
  EXPECT_EQ(advice->changes, both);
}

TEST(BucketCapRule, WithoutAPredictionLatencyTellsThatBucketsAreTooSmall) {
  AdvisedRun run;
  run.predicts = false;
  run.add_collective("bucket 0", kMib, 10.0 * kMs, 4.0 * kMs);
  run.add_collective("bucket 1", 2 * kMib, 11.0 * kMs, 4.0 * kMs);
  const auto advice = of_rule(run.advise(), "bucket_cap");
  ASSERT_TRUE(advice) << "9 ms whatever the size";
  EXPECT_FALSE(advice->gain);
  EXPECT_EQ(advice->gain_unknown, run.refused);
  EXPECT_EQ(advice->changes.front().value, "2") << "two buckets stay";
  AdvisedRun fast;
  fast.predicts = false;
  fast.add_collective("bucket 0", kMib, 10.0 * kMs, 4.0 * kMs);
  fast.add_collective("bucket 1", 2 * kMib, 19.0 * kMs, 4.0 * kMs);
  EXPECT_FALSE(asked(fast, "bucket_cap")) << "1 ms whatever the size";
}

TEST(FirstBucketRule, SpeaksWhereASmallerFirstBucketIsFaster) {
  AdvisedRun run;
  run.settings().overlap_comm = false;
  run.settings().bucket_cap_mb = 4;
  run.settings().first_bucket_mb = 1;
  run.job.transfer_ns = {{kMib, 10 * kMs}, {4 * kMib, 25 * kMs}};
  const auto advice = asked(run, "first_bucket");
  ASSERT_TRUE(advice) << "1 and 3 MiB where 4 would do";
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"first_bucket_mb", "4"}}));
  EXPECT_FALSE(asked(run, "bucket_cap")) << "that is 4 already";
  AdvisedRun overlapping;
  EXPECT_FALSE(asked(overlapping, "first_bucket"));
}

// The last bucket is most of what is exposed.
AdvisedRun with_tail(const std::vector<std::int64_t>& last) {
  AdvisedRun run;
  run.predicts = false;
  run.settings().bucket_cap_mb = 8;
  run.set_buckets({{8 * kMib}, last});
  run.add_collective("bucket 0", 8 * kMib, 4.0 * kMs, 1.0 * kMs);
  run.add_collective("bucket 1", 8 * kMib, 11.0 * kMs, 11.0 * kMs);
  return run;
}

TEST(LastBucketRule, SpeaksWhereTheLastBucketIsMostOfWhatIsExposed) {
  AdvisedRun run = with_tail({3 * kMib, 3 * kMib, 2 * kMib});
  const auto advice = asked(run, "last_bucket");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"bucket_cap_mb", "4"}}));
  EXPECT_EQ(advice->measured, "11.0 ms of 12.0 ms exposed: bucket 1");
  AdvisedRun hidden = with_tail({3 * kMib, 3 * kMib, 2 * kMib});
  hidden.figures().collectives.back().exposed_ns = 5.0 * kMs;
  EXPECT_FALSE(asked(hidden, "last_bucket")) << "less than half";
}

TEST(BigTensorRule, SpeaksWhereOneTensorIsMostOfTheTail) {
  AdvisedRun run = with_tail({147 * kMib, 6 * kMib});
  const auto advice = asked(run, "big_tensor");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->title, "Untie, freeze or shard blocks.1.weight0");
  EXPECT_TRUE(advice->changes.empty());
  AdvisedRun again = with_tail({147 * kMib, 6 * kMib});
  EXPECT_FALSE(asked(again, "last_bucket")) << "no cap can hide it";
  AdvisedRun many = with_tail({3 * kMib, 3 * kMib, 2 * kMib});
  EXPECT_FALSE(asked(many, "big_tensor"));
}

TEST(BigTensorRule, ShowsItsLongestReduction) {
  AdvisedRun run = with_tail({147 * kMib, 6 * kMib});
  run.events = [](const analysis::StepFigures& step, int rank) {
    model::Batch batch;
    model::Collective call;
    call.rank = rank;
    call.tag_kind = model::TagKind::kBucket;
    call.tag_index = 1;
    call.start_ns = step.start_ns + 100 * kMs;
    call.end_ns = call.start_ns + (step.index + 1) * kMs;
    batch.collectives.push_back(call);
    return batch;
  };
  const auto advice = asked(run, "big_tensor");
  ASSERT_TRUE(advice);
  const Evidence& shown = advice->evidence.front();
  EXPECT_EQ(shown.step, 20);
  EXPECT_EQ(shown.end_ns - shown.start_ns, 21 * kMs);
}

TEST(BucketViewsRule, SpeaksWhereViewsNeedLessMemory) {
  AdvisedRun run;
  run.set_memory(16 * 1024 * kMib);
  const auto advice = of_rule(run.advise(), "bucket_views");
  ASSERT_TRUE(advice);
  job::Settings views = run.settings();
  views.gradient_as_bucket_view = true;
  EXPECT_EQ(advice->saved_bytes, 400 * kMib - *run.facts().peak_bytes(views));
  EXPECT_GT(advice->saved_bytes, 0);
  EXPECT_FALSE(advice->gain) << "it is for memory";
  AdvisedRun with_views;
  with_views.settings().gradient_as_bucket_view = true;
  with_views.set_memory(16 * 1024 * kMib);
  EXPECT_FALSE(asked(with_views, "bucket_views"));
  AdvisedRun unknown;
  EXPECT_FALSE(asked(unknown, "bucket_views")) << "nothing tells what they take";
}

TEST(BucketViewsRule, ShowsAStepAlsoWhereNoneWasRecordedInDetail) {
  AdvisedRun run;
  run.set_memory(16 * 1024 * kMib);
  run.predicts = false;
  run.change = [](analysis::RunFigures& figures) {
    for (auto& step : figures.steps) {
      for (auto& rank : step.ranks) rank.has_detail = false;
    }
  };
  const auto advice = of_rule(run.advise(), "bucket_views");
  ASSERT_TRUE(advice);
  EXPECT_GE(advice->evidence.front().step, 0);
}

TEST(CompressionRule, SpeaksWhereMovingGradientsIsExposed) {
  AdvisedRun run;
  const auto advice = asked(run, "compression");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"communication_hook", "bf16_compress"}}));
  EXPECT_NE(advice->costs, "");
  AdvisedRun waiting;
  waiting.wait_ns = [](auto, auto) { return 12 * kMs; };
  EXPECT_FALSE(asked(waiting, "compression")) << "fewer bytes would wait as long";
  AdvisedRun compressed;
  compressed.settings().communication_hook = job::CommunicationHook::kFp16Compress;
  EXPECT_FALSE(asked(compressed, "compression"));
}

// Of units, micro-batches are added up in the type of the reduction.
TEST(CompressionRule, SaysWhereGradientsAreAddedUpInFewerBits) {
  for (const bool reduces_each : {false, true}) {
    AdvisedRun run;
    run.predicts = false;
    run.settings().sharding_strategy = job::Strategy::kFullShard;
    run.settings().gradient_accumulation_steps = 64;
    run.settings().sync_each_batch = reduces_each;
    const auto advice = asked(run, "compression");
    ASSERT_TRUE(advice);
    EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"reduce_dtype", "bf16"}}));
    EXPECT_THAT(advice->costs, HasSubstr(reduces_each ? "rounded to 8 significant bits"
                                                      : "of 64 micro-batches are added up"));
  }
}

constexpr int kArrives = 1;

// So many gradients arrive in each step; one fewer in odd ones where `varies`.
AdvisedRun searching(int gradients, bool varies = false) {
  AdvisedRun run;
  run.predicts = false;
  run.settings().find_unused_parameters = true;
  run.events = [=](const analysis::StepFigures& step, int rank) {
    model::Batch batch;
    batch.strings = {
        {rank, kArrives, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"}};
    model::EventRun events;
    events.rank = rank;
    const int missing = varies && step.index % 2 == 1 ? 1 : 0;
    for (int i = 0; i < gradients - missing; ++i) {
      model::Event event;
      event.name = kArrives;
      event.start_ns = step.start_ns + (i + 1) * kMs;
      events.events.push_back(event);
    }
    batch.events.push_back(events);
    return batch;
  };
  return run;
}

TEST(UnusedParametersRule, SpeaksWhereNothingIsFound) {
  AdvisedRun run = searching(4);
  const auto advice = of_rule(run.advise(), "unused_parameters");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"find_unused_parameters", "false"}}));
  AdvisedRun three = searching(3);
  EXPECT_FALSE(asked(three, "unused_parameters")) << "one is unused";
  AdvisedRun off = searching(4);
  off.settings().find_unused_parameters = false;
  EXPECT_FALSE(asked(off, "unused_parameters"));
}

TEST(StaticGraphRule, SpeaksWhereAsManyAreUnusedInEveryStep) {
  AdvisedRun run = searching(3);
  const auto advice = of_rule(run.advise(), "static_graph");
  ASSERT_TRUE(advice);
  EXPECT_THAT(advice->measured, HasSubstr("3 gradients of 4"));
  AdvisedRun changing = searching(3, true);
  EXPECT_FALSE(asked(changing, "static_graph"));
  AdvisedRun all = searching(4);
  EXPECT_FALSE(asked(all, "static_graph"));
}

TEST(AccumulationRule, SpeaksWhereEveryMicroBatchIsReduced) {
  AdvisedRun run;
  run.predicts = false;
  run.settings().gradient_accumulation_steps = 4;
  run.settings().sync_each_batch = true;
  const auto advice = asked(run, "accumulation");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"sync_each_batch", "false"}}));
  EXPECT_DOUBLE_EQ(advice->at_stake_ns, 9.0 * kMs) << "three of four";
  AdvisedRun once;
  once.settings().gradient_accumulation_steps = 4;
  once.predicts = false;
  EXPECT_FALSE(asked(once, "accumulation"));
}

}  // namespace
}  // namespace shardlens::trace::advice
