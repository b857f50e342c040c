// Traces of a job that is known are imported, and what is predicted of other settings is what the
// same job takes when it is made with those.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <tuple>

#include "tests/trace/interop/ddp_traces.h"
#include "tests/trace/tuning/imported_job.h"
#include "tests/trace/tuning/recorded_job.h"
#include "trace/predict/schedule/bucket_program.h"

namespace shardlens::trace::tuning {
namespace {

using interop::DdpJob;
using interop::DdpTraceWriter;
using job::Settings;
using testing::HasSubstr;

constexpr double kMebibyte = 1024.0 * 1024.0;

std::vector<std::int64_t> bytes_of(const DdpJob& job) {
  std::vector<std::int64_t> bytes;
  for (const std::int64_t elements : job.gradients) bytes.push_back(4 * elements);
  return bytes;
}

void plan(DdpJob& job, double first_mb, double cap_mb) {
  job.buckets.clear();
  const auto bytes = bytes_of(job);
  for (const auto& bucket : predict::plan_buckets(
           bytes, {std::llround(first_mb * kMebibyte), std::llround(cap_mb * kMebibyte)})) {
    job.buckets.push_back(bucket.size());
  }
}

double step_us(const DdpJob& job) {
  DdpTraceWriter writer(job, 0);
  (void)writer.text();
  return writer.step_us();
}

class ImportedPrediction : public ImportedJob {
 protected:
  base::Result<Predictor> learn(const DdpJob& job, int ranks = 2) {
    return learn_job<DdpTraceWriter>(job, ranks);
  }
  std::string why_not(const DdpJob& job, int ranks = 2) {
    const auto predictor = learn(job, ranks);
    return predictor ? "" : predictor.error().message;
  }
};

constexpr int kManySteps = 20;  // enough for an interval

DdpJob some_job() {
  DdpJob job;
  for (int i = 0; i < 12; ++i) job.gradients.push_back(40'000 + 15'000 * (i % 4));
  plan(job, 0.5, 0.5);
  return job;
}

DdpJob drawn_job(std::mt19937& random) {
  DdpJob job;
  job.gradients.resize(4 + random() % 20);
  for (auto& elements : job.gradients) elements = 20'000 + random() % 200'000;
  job.on_gpu = random() % 2 == 0;
  job.gradient_us = 50 + static_cast<double>(random() % 300);
  job.us_per_element = 0.0005 + 0.0001 * static_cast<double>(random() % 30);
  return job;
}

double drawn_cap(std::mt19937& random) { return 0.1 * static_cast<double>(1 + random() % 30); }

TEST_F(ImportedPrediction, IsWhatTheJobTakesWithOtherCaps) {
  constexpr double kTolerance = 20'000;  // ns: what the host does beside
  std::mt19937 random(3);
  int predicted = 0;
  for (int round = 0; round < 16; ++round) {
    DdpJob job = drawn_job(random);
    job.steps = kManySteps;
    plan(job, drawn_cap(random), drawn_cap(random));
    const auto predictor = learn(job);
    ASSERT_TRUE(predictor) << round << ": " << predictor.error().message;
    const Settings& recorded = predictor->info().settings;
    DdpJob other = job;
    Settings next = recorded;
    next.bucket_cap_mb = drawn_cap(random);
    next.first_bucket_mb = drawn_cap(random);
    plan(other, next.first_bucket_mb, next.bucket_cap_mb);
    const auto prediction = predictor->predict_known(next);
    if (!prediction) {
      EXPECT_THAT(prediction.error().message, HasSubstr("moved no sizes near")) << round;
      continue;
    }
    ++predicted;
    const auto step = predictor->predict_step(next, kTypicalStep);
    ASSERT_TRUE(step);
    ASSERT_EQ(step->program.calls.size(), other.buckets.size()) << round;
    for (std::size_t b = 0; b < other.buckets.size(); ++b) {
      EXPECT_EQ(step->program.calls[b].bytes, 4 * other.elements_of(b)) << round;
    }
    const double change = 1e3 * (step_us(other) - step_us(job));
    if (prediction->changes.empty()) continue;
    ASSERT_TRUE(prediction->difference) << round;
    EXPECT_GE(change, prediction->difference->low_ns - kTolerance) << round;
    EXPECT_LE(change, prediction->difference->high_ns + kTolerance) << round;
  }
  EXPECT_GT(predicted, 8);
}

// All of one size tell no slope: buckets of half and of twice that lie between bounds, which only
// an interval can say.
TEST_F(ImportedPrediction, OfBucketsOfOneSizeHoldsWhatOtherSizesMayTake) {
  DdpJob single;
  single.gradients.assign(12, 100'000);
  single.steps = kManySteps;
  DdpJob pairs = single;
  plan(single, 0.3, 0.3);
  plan(pairs, 0.7, 0.7);
  ASSERT_EQ(pairs.buckets, std::vector<std::size_t>(6, 2));
  const auto predicted = [&](const DdpJob& job, double cap_mb) -> base::Result<Prediction> {
    const auto predictor = learn(job);
    if (!predictor) return tl::unexpected(predictor.error());
    Settings next = predictor->info().settings;
    next.bucket_cap_mb = next.first_bucket_mb = cap_mb;
    return predictor->predict_known(next);
  };
  const double difference = 1e3 * (step_us(pairs) - step_us(single));
  for (const auto& [from, cap_mb, change] :
       {std::tuple{single, 0.7, difference}, std::tuple{pairs, 0.3, -difference}}) {
    const auto prediction = predicted(from, cap_mb);
    ASSERT_TRUE(prediction) << prediction.error().message;
    EXPECT_TRUE(prediction->is_extrapolated);
    ASSERT_TRUE(prediction->difference);
    EXPECT_LT(prediction->difference->low_ns, change);
    EXPECT_GT(prediction->difference->high_ns, change);
    DdpJob short_run = from;
    short_run.steps = 5;
    const auto refused = predicted(short_run, cap_mb);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("moved no sizes near"));
  }
}

TEST_F(ImportedPrediction, StartsFromCapsThatGiveTheRecordedBuckets) {
  std::mt19937 random(9);
  for (int round = 0; round < 20; ++round) {
    DdpJob job = drawn_job(random);
    const bool is_default = round % 5 == 0;
    const double cap = is_default ? 25 : drawn_cap(random);
    plan(job, is_default ? 1 : round % 2 == 0 ? cap : drawn_cap(random), cap);
    const auto predictor = learn(job);
    if (!predictor) continue;  // the sizes of one bucket do not tell others
    DdpJob same = job;
    const Settings acts = acting_settings(predictor->info(), predictor->info().settings);
    plan(same, acts.first_bucket_mb, acts.bucket_cap_mb);
    EXPECT_EQ(same.buckets, job.buckets) << round;
    ASSERT_TRUE(predictor->told());
    EXPECT_TRUE(
        predictor->told()->caps->others.holds(std::llround(acts.bucket_cap_mb * kMebibyte)));
    const auto prediction = predictor->predict_known(predictor->info().settings);
    ASSERT_TRUE(prediction);
    EXPECT_TRUE(prediction->changes.empty());
    EXPECT_EQ(prediction->step_ns, prediction->recorded_step_ns);
    EXPECT_TRUE(prediction->told_caps);
    EXPECT_TRUE(prediction->peaks.empty()) << "a trace tells no memory by purpose";
  }
}

// DDP(bucket_cap_mb=25) is not what it plans when no cap is given.
TEST_F(ImportedPrediction, ACapThatIsGivenIsTheFirstBucketsToo) {
  DdpJob job = some_job();
  plan(job, 0.5, 0.5);
  const auto predictor = learn(job);
  ASSERT_TRUE(predictor) << predictor.error().message;
  Settings next = predictor->info().settings;
  next.bucket_cap_mb = 25;
  const auto first_of = [&](double first_bucket_mb) {
    next.first_bucket_mb = first_bucket_mb;
    const auto changes = told_changes(predictor->info(), *predictor->told(), next);
    return changes ? acting_settings(predictor->info(), changes->settings).first_bucket_mb : 0;
  };
  EXPECT_EQ(first_of(static_cast<double>(job::kAuto)), 25);
  EXPECT_EQ(first_of(1), 1);
  ToldSettings one = *predictor->told();  // DDP(bucket_cap_mb=25), of which both caps are told
  one.settings.bucket_cap_mb = one.settings.first_bucket_mb = 25;
  next = one.settings;
  next.bucket_cap_mb = 50;
  const auto larger = told_changes(predictor->info(), one, next);
  ASSERT_TRUE(larger);
  EXPECT_EQ(larger->settings.first_bucket_mb, 50);
  const auto given = told_changes(predictor->info(), one, next, /*is_first_given=*/true);
  ASSERT_TRUE(given);
  EXPECT_EQ(given->settings.first_bucket_mb, 25) << "which was asked for";
  next = predictor->info().settings;
  DdpJob own = job;  // as PyTorch plans on its own
  own.gradients.assign(4, 300'000);
  plan(own, 1, 25);
  const auto of_own = learn(own);
  ASSERT_TRUE(of_own) << of_own.error().message;
  next = of_own->info().settings;
  const auto same = told_changes(of_own->info(), *of_own->told(), next);
  ASSERT_TRUE(same);
  EXPECT_TRUE(same->known.empty());
}

TEST_F(ImportedPrediction, TellsOverlapHookLinkAndAccumulation) {
  DdpJob job = some_job();
  job.steps = kManySteps;
  const auto predictor = learn(job);
  ASSERT_TRUE(predictor) << predictor.error().message;
  const Settings recorded = predictor->info().settings;
  const auto with = [&](auto change) {
    Settings next = recorded;
    change(next);
    return predictor->predict_known(next).value();
  };
  EXPECT_GT(with([](auto& s) { s.overlap_comm = false; }).difference_ns(), 0);
  const auto hook = job::CommunicationHook::kBf16Compress;
  EXPECT_EQ(with([&](auto& s) { s.communication_hook = hook; }).changes.size(), 1u);
  const auto linked = with([](auto& s) { s.simulate_link = "latency_us=500,gbit_per_s=1"; });
  EXPECT_GT(linked.difference_ns(), 0);
  const auto twice = with([](auto& s) { s.gradient_accumulation_steps = 2; });
  EXPECT_EQ(twice.samples, 2);
  job.micro_batches = 2;
  const double change = 1e3 * (step_us(job) - step_us(some_job()));
  ASSERT_TRUE(twice.difference);
  EXPECT_GE(change, twice.difference->low_ns);
  EXPECT_LE(change, twice.difference->high_ns);
  const auto other = with([](auto& s) { s.batch_per_rank += 1, s.bucket_cap_mb = 1; });
  ASSERT_EQ(other.changes.size(), 2u) << "and nothing of what is not told";
  EXPECT_EQ(other.changes[0].before, "as recorded");
}

TEST_F(ImportedPrediction, KnowsHowOftenGradientsWereReducedAndInWhichType) {
  DdpJob job = some_job();
  job.micro_batches = 3;
  job.reduces_each = true;
  job.reduced_type = "c10::Half";
  const auto predictor = learn(job);
  ASSERT_TRUE(predictor) << predictor.error().message;
  const Settings& recorded = predictor->info().settings;
  EXPECT_EQ(recorded.gradient_accumulation_steps, 3);
  EXPECT_TRUE(recorded.sync_each_batch);
  EXPECT_EQ(recorded.communication_hook, job::CommunicationHook::kFp16Compress);
  Settings next = recorded;
  next.communication_hook = job::CommunicationHook::kNone;
  const auto step = predictor->predict_step(next, kTypicalStep);
  ASSERT_TRUE(step);
  EXPECT_EQ(step->program.calls.front().bytes, 4 * job.elements_of(0));
}

TEST_F(ImportedPrediction, OneMicroBatchIsReducedWhateverWasToldOfSeveral) {
  DdpJob job = some_job();
  job.micro_batches = 2;
  job.reduces_each = true;
  const auto predictor = learn(job);
  ASSERT_TRUE(predictor) << predictor.error().message;
  Settings next = predictor->info().settings;
  ASSERT_TRUE(next.sync_each_batch);
  next.gradient_accumulation_steps = 1;
  const auto once = predictor->predict_known(next);
  ASSERT_TRUE(once) << once.error().message;
  next.sync_each_batch = false;
  EXPECT_EQ(once->step_ns, predictor->predict_known(next)->step_ns);
  EXPECT_LT(once->difference_ns(), 0);
}

TEST_F(ImportedPrediction, RefusesWhatTheTraceDoesNotTellByName) {
  DdpJob job = some_job();
  job.on_gpu = true;
  EXPECT_THAT(why_not(job, 1), HasSubstr("Import the files of all ranks together"));
  EXPECT_EQ(why_not(job), "");
  job.has_shapes = false;
  EXPECT_THAT(why_not(job), HasSubstr("record_shapes=True"));
  job = some_job();
  job.more_elements = 8;
  EXPECT_THAT(why_not(job), HasSubstr("elements follows gradients of"));
  job = some_job();
  job.ahead_us = 20'000;
  EXPECT_THAT(why_not(job), HasSubstr("clocks of several machines"));
  job = some_job();
  job.looks_for_unused = true;
  EXPECT_THAT(why_not(job), HasSubstr("With find_unused_parameters"));
  job = some_job();
  job.steps = 3;
  EXPECT_THAT(why_not(job), HasSubstr("at least 4 measured steps"));
  job = some_job();
  job.buckets = {1, 1, 9, 1};
  EXPECT_THAT(why_not(job), HasSubstr("No bucket caps"));
}

TEST_F(ImportedPrediction, OfBucketsThatGroupsReduceIsOfAsManyRanks) {
  DdpJob job = some_job();
  job.on_gpu = true;
  job.pairs = 2;
  const auto group_of = [&](const std::string& group) {
    job.group = group;
    const auto predictor = learn(job, 4);
    EXPECT_TRUE(predictor) << predictor.error().message;
    Settings next = predictor->info().settings;
    next.bucket_cap_mb = next.first_bucket_mb = 1;
    const auto step = predictor->predict_step(next, kTypicalStep);
    EXPECT_TRUE(step) << step.error().message;
    EXPECT_EQ(step->program.calls.size(), 3u);
    const auto refused = refuse_untold(*predictor->told(), {job::find_knob("ranks")});
    EXPECT_EQ(refused.has_value(), group == "0") << "other ranks are in other groups";
    return step->program.calls.front().group;
  };
  EXPECT_EQ(group_of("0"), 4);
  EXPECT_EQ(group_of("2"), 2);
  job.on_gpu = false;
  EXPECT_THAT(why_not(job, 4), HasSubstr("process group is not known"))
      << "of Gloo's calls: all ranks meet";
}

TEST(RecordedFromOutside, LacksGradientsAndBuckets) {
  RecordedJob job;
  job.figures.info.imported_from = "another program";
  const auto predictor = Predictor::create(job.figures, predict::RecordedSteps(2, 0));
  ASSERT_FALSE(predictor);
  EXPECT_THAT(predictor.error().message, HasSubstr("does not tell when gradients were ready"));
  EXPECT_THAT(predictor.error().message, HasSubstr("fully_shard"))
      << "nothing tells that it was DDP";
}

TEST_F(ImportedPrediction, KnowsOfWhichKnobsItCanBe) {
  const auto knobs_of = [&](const DdpJob& job) {
    std::vector<const job::Knob*> asked;
    for (const auto& name : {"ranks", "communication_hook", "bucket_cap_mb", "batch_per_rank",
                             "sharding_strategy", "learning_rate"}) {
      asked.push_back(job::find_knob(name));
    }
    const auto refused = refuse_untold(*learn(job).value().told(), asked);
    const std::string text = refused ? "" : refused.error().message;
    return text.substr(0, text.find(" do "));
  };
  DdpJob job = some_job();
  EXPECT_EQ(knobs_of(job), "What ranks, batch_per_rank and sharding_strategy");
  job.on_gpu = true;
  EXPECT_EQ(knobs_of(job), "What batch_per_rank and sharding_strategy");
}

// More ranks may be on more machines, of which the run tells nothing.
TEST_F(ImportedPrediction, OfOtherRanksOnGpusKeepsTheLinkUnlessNodesAreGiven) {
  DdpJob job = some_job();
  job.on_gpu = true;
  job.steps = kManySteps;
  const auto predictor = learn(job);
  ASSERT_TRUE(predictor) << predictor.error().message;
  Settings next = predictor->info().settings;
  const auto keeps_link = [&] {
    const auto prediction = predictor->predict_known(next);
    EXPECT_TRUE(prediction) << prediction.error().message;
    return prediction && prediction->keeps_link_of_other_ranks;
  };
  next.bucket_cap_mb = next.first_bucket_mb = 1;
  EXPECT_FALSE(keeps_link()) << "of as many ranks";
  next.ranks = 4;
  EXPECT_TRUE(keeps_link());
  next.simulate_link = "latency_us=20,gbit_per_s=100";
  EXPECT_TRUE(keeps_link());
  next.simulate_link = "latency_us=20,gbit_per_s=100,nodes=2";
  EXPECT_FALSE(keeps_link());
}

TEST(ChosenCaps, AreRoundAndInTheirRanges) {
  const auto mib = [](double value) { return static_cast<std::int64_t>(value * kMebibyte); };
  const auto chosen = [&](predict::CapRange first, predict::CapRange others) {
    const ChosenCaps caps = choose_caps({first, others});
    return std::pair(caps.first_bucket_mb, caps.bucket_cap_mb);
  };
  constexpr auto kAuto = static_cast<double>(job::kAuto);
  const auto any = predict::CapRange{};
  EXPECT_EQ(chosen({mib(0.5), mib(1.5)}, {mib(24), mib(31)}), std::pair(kAuto, 25.0));
  EXPECT_EQ(chosen({0, mib(1.5)}, any), std::pair(kAuto, 25.0)) << "PyTorch's own";
  EXPECT_EQ(chosen({mib(1.6), mib(2.3)}, {mib(1.9), mib(4.4)}), std::pair(kAuto, 2.0));
  EXPECT_EQ(chosen({mib(0.2), mib(0.3)}, {mib(3), mib(4.4)}), std::pair(0.25, 4.0));
  EXPECT_EQ(chosen({mib(24), mib(26)}, {mib(24), mib(26)}), std::pair(25.0, 25.0));
  EXPECT_EQ(chosen({mib(20), any.up_to_bytes}, any), std::pair(kAuto, 100.0));
  EXPECT_EQ(chosen({mib(3000), any.up_to_bytes}, any).second, 4000) << "no cap is above 4096";
  const double odd = chosen({mib(1) - 7, mib(1) - 3}, {mib(1) - 7, mib(1) - 3}).second;
  EXPECT_EQ(mib(odd), mib(1) - 3);
}

}  // namespace
}  // namespace shardlens::trace::tuning
