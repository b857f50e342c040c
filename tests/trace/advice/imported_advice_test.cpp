// What would help another program, whose traces tell some of its settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/trace/advice/advised_run.h"
#include "tests/trace/interop/ddp_traces.h"
#include "tests/trace/interop/fsdp1_traces.h"
#include "tests/trace/interop/fsdp_traces.h"
#include "tests/trace/tuning/imported_job.h"

namespace shardlens::trace::advice {
namespace {

class ImportedAdvice : public tuning::ImportedJob {
 protected:
  template <typename Writer, typename Job>
  std::vector<Advice> advised(const Job& job) {
    const interop::ImportedRun imported = import_job<Writer>(job);
    const Run run = open(imported.folder);
    StepSample sample;
    const auto reader = store::RunReader::open(imported.folder);
    EXPECT_TRUE((*reader)->read_facts([&](const auto& batch) { sample.learn_facts(batch); }));
    for (const auto* step : StepSample::choose(run.figures)) {
      EXPECT_TRUE((*reader)->read_range(step->start_ns, step->end_ns,
                                        [&](const auto& batch) { sample.add(*step, batch); }));
    }
    const auto predictor = learn_run(run);
    EXPECT_TRUE(predictor) << predictor.error().message;
    const RunFacts facts(run.figures, sample, predictor ? &*predictor : nullptr, "");
    auto all = advise(facts);
    for (const Advice& each : all) EXPECT_TRUE(is_told(each)) << each.rule;
    return all;
  }

 private:
  static bool is_told(const Advice& advice) {
    const auto rule = std::ranges::find(rules(), advice.rule, &Rule::id);
    return rule != rules().end() && rule->needs != kAllSettings;
  }
};

interop::DdpJob buckets_of_one(double latency_us) {
  interop::DdpJob job;
  job.steps = 16;
  job.on_gpu = true;
  job.latency_us = latency_us;
  job.gradients.assign(24, 100'000);
  job.gradients[3] = 200'000;  // of another size, which tells what bytes cost
  job.buckets.assign(24, 1);
  return job;
}

TEST_F(ImportedAdvice, OfDdpThatSmallBucketsCostMoreThanTheyHide) {
  const auto slow = advised<interop::DdpTraceWriter>(buckets_of_one(900));
  const auto cap = of_rule(slow, "bucket_cap");
  ASSERT_TRUE(cap);
  ASSERT_EQ(cap->changes.size(), 1u);
  EXPECT_EQ(cap->changes[0].knob, "bucket_cap_mb");
  EXPECT_TRUE(cap->gain) << cap->gain_unknown;
  EXPECT_FALSE(of_rule(advised<interop::DdpTraceWriter>(buckets_of_one(1)), "bucket_cap"))
      << "they hide everything";
}

// Of units that are gathered when they are needed, in backward too.
interop::FsdpJob late_gathers() {
  interop::FsdpJob job{.units = {40'000, 90'000, 90'000, 90'000, 90'000, 80'000}, .steps = 16};
  job.on_gpu = true;
  job.us_per_element = 0.006;
  job.gathers_ahead = false;
  return job;
}

TEST_F(ImportedAdvice, OfShardedProgramsThatTheyGatherWhenItIsTooLate) {
  interop::FsdpJob job = late_gathers();
  for (const auto& advice :
       {advised<interop::FsdpTraceWriter>(job), advised<interop::Fsdp1TraceWriter>(job)}) {
    const auto prefetch = of_rule(advice, "backward_prefetch");
    ASSERT_TRUE(prefetch);
    EXPECT_THAT(prefetch->title, testing::HasSubstr("Prefetch"));
    EXPECT_TRUE(prefetch->gain) << prefetch->gain_unknown;
  }
  job.gathers_ahead = true;
  EXPECT_FALSE(of_rule(advised<interop::FsdpTraceWriter>(job), "backward_prefetch"));
  EXPECT_FALSE(of_rule(advised<interop::Fsdp1TraceWriter>(job), "backward_prefetch"));
}

// Gathers ahead as it should, and they are longer than what they lie beside.
TEST_F(ImportedAdvice, OfShardedProgramsThatTheyCouldKeepWhatTheyGatherTwice) {
  interop::FsdpJob job = late_gathers();
  job.gathers_ahead = true;
  job.us_per_element = 0.03;
  for (const auto& advice :
       {advised<interop::FsdpTraceWriter>(job), advised<interop::Fsdp1TraceWriter>(job)}) {
    const auto keep = of_rule(advice, "keep_units");
    ASSERT_TRUE(keep);
    EXPECT_THAT(keep->title, testing::HasSubstr("shard_grad_op"));
    EXPECT_TRUE(keep->gain) << keep->gain_unknown;
    EXPECT_THAT(keep->costs, testing::HasSubstr("whether that fits"));
  }
  job.us_per_element = 0.0001;
  EXPECT_FALSE(of_rule(advised<interop::FsdpTraceWriter>(job), "keep_units")) << "they are hidden";
}

}  // namespace
}  // namespace shardlens::trace::advice
