// What an import finds out about fully_shard, in traces of jobs that are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/trace/interop/fsdp_traces.h"
#include "tests/trace/interop/unit_import.h"

namespace shardlens::trace::interop {
namespace {

class FsdpImport : public UnitImport<FsdpTraceWriter> {};

TEST_F(FsdpImport, FindsTheUnitsAndWhatEachCollectiveWasFor) {
  std::mt19937 random(5);
  for (int round = 0; round < 24; ++round) {
    SCOPED_TRACE(round);
    expect_units(drawn_units(random));
  }
}

TEST_F(FsdpImport, MarksPhasesAndWhenGradientsOfAUnitWereReady) {
  FsdpJob job{.units = {1000, 2000, 3000}, .steps = 4, .micro_batches = 2};
  for (const bool on_gpu : {false, true}) {
    job.on_gpu = on_gpu;
    expect_phases(imported(job));
  }
}

TEST_F(FsdpImport, GlooReducesAllAndScattersItself) {
  const FsdpJob job{.units = {1000, 2000}, .steps = 2};
  const Run run = imported(job);
  int scattered = 0;
  for (const model::Batch& batch : run.batches) {
    for (const model::Collective& call : batch.collectives) {
      if (call.function != model::CollectiveFunction::kReduceScatter) continue;
      ++scattered;
      EXPECT_EQ(call.executed, model::CollectiveFunction::kAllReduce);
      EXPECT_EQ(call.bytes, call.tag_index == 0 ? 4000 : 8000);
    }
  }
  EXPECT_EQ(scattered, 2 * 2 * 2) << "ranks, units, steps";
}

TEST_F(FsdpImport, SaysWhatIsMissingWhereNoCallIsInTheTrace) {
  const FsdpJob job{.units = {1000, 2000}, .steps = 2};
  const auto lose_calls = [](std::string& text) {
    for (auto at = text.find("c10d::"); at != text.npos; at = text.find("c10d::", at)) {
      text.replace(at, 6, "other:");
    }
  };
  const ImportedRun run = import_changed<FsdpTraceWriter>(job, lose_calls);
  EXPECT_TRUE(open(run.folder).figures.units.empty());
  EXPECT_THAT(run.warnings,
              testing::ElementsAre(testing::AllOf(
                  testing::HasSubstr("Units of FullyShardedDataParallel are not known: for "),
                  testing::HasSubstr("not clear which call asked"))));
}

// Traces that are cut, or damaged, may mark any one thing alone of a unit.
TEST_F(FsdpImport, AUnitThatIsNeverGatheredIsOneOfWhichNothingIsKnown) {
  const FsdpJob job{.units = {1000, 2000, 3000}, .steps = 2};
  const std::string node = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";
  for (const std::string mark : {"pre_backward", "post_backward_accumulate", "post_forward",
                                 "backward_prefetch", "root_post_backward_callback"}) {
    // In the last backward, and a gradient behind it.
    const auto add_stranger = [&](std::string& text) {
      const auto last = text.find("\"ts\":", text.rfind("FSDP::pre_backward (layers.0)"));
      const double begin = std::stod(text.substr(last + 5));
      std::string more =
          complete("user_annotation", "FSDP::" + mark + " (stranger)", "77", begin + 1.1, 0.1);
      more += "," + complete("cpu_op", node, "77", begin + 2, 1);
      more += "," + complete("cpu_op", "torch::autograd::AccumulateGrad", "77", begin + 2.2, 0.5,
                             "\"Input type\":[\"float\"],\"Input Dims\":[[30]]");
      const std::string events = "\"traceEvents\":[";
      text.insert(text.find(events) + events.size(), more + ",");
    };
    const auto units =
        open(import_changed<FsdpTraceWriter>(job, add_stranger).folder).figures.units;
    ASSERT_EQ(units.size(), 4u) << mark;
    EXPECT_EQ(units.back().name, "stranger");
    EXPECT_EQ(units.back().bytes, 0);
    EXPECT_EQ(units[1].bytes, 4 * job.units[1]);
  }
}

}  // namespace
}  // namespace shardlens::trace::interop
