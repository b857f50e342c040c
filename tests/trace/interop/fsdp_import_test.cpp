// What an import finds out about fully_shard, in traces of jobs that are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/trace/interop/fsdp_traces.h"

namespace shardlens::trace::interop {
namespace {

class FsdpImport : public KinetoImport {
 protected:
  Run imported(const FsdpJob& job) {
    const ImportedRun run = import_job<FsdpTraceWriter>(job);
    EXPECT_TRUE(run.warnings.empty()) << testing::PrintToString(run.warnings);
    return open(run.folder);
  }
  // Of a step, in order.
  static std::vector<std::string> calls_of(const FsdpJob& job) {
    FsdpTraceWriter writer(job, 0);
    static_cast<void>(writer.text());
    return writer.calls();
  }
};

FsdpJob drawn_units(std::mt19937& random) {
  FsdpJob job;
  job.units.resize(2 + random() % 8);
  for (auto& elements : job.units)
    elements = 2 * (1 + static_cast<std::int64_t>(random() % 50'000));
  job.steps = 3;
  job.micro_batches = 1 + static_cast<int>(random() % 3);
  job.reduces_each = random() % 2 == 0;
  job.frees_after_forward = random() % 3 != 0;
  job.prefetches_forward = random() % 2 == 0;
  job.gathers_ahead = random() % 3 != 0;
  job.on_gpu = random() % 2 == 0;
  return job;
}

TEST_F(FsdpImport, FindsTheUnitsAndWhatEachCollectiveWasFor) {
  std::mt19937 random(5);
  for (int round = 0; round < 24; ++round) {
    const FsdpJob job = drawn_units(random);
    const Run run = imported(job);
    const auto& units = run.figures.units;
    ASSERT_EQ(units.size(), job.units.size()) << round;
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      EXPECT_EQ(units[unit].name, unit == 0 ? "root" : FsdpTraceWriter::name(unit)) << round;
      EXPECT_EQ(units[unit].bytes, 4 * job.units[unit]) << round;
      EXPECT_EQ(units[unit].reduced_bytes, 4 * job.units[unit]) << round;
      EXPECT_EQ(units[unit].shard_bytes, 2 * job.units[unit]) << round;
      EXPECT_EQ(units[unit].shard_count, 2);
      EXPECT_EQ(units[unit].data_type, "float32");
    }
    EXPECT_EQ(tags_of_last_step(run.batches, run.strings), calls_of(job)) << round;
  }
}

TEST_F(FsdpImport, MarksPhasesAndWhenGradientsOfAUnitWereReady) {
  FsdpJob job{.units = {1000, 2000, 3000}, .steps = 4, .micro_batches = 2};
  for (const bool on_gpu : {false, true}) {
    job.on_gpu = on_gpu;
    const Run run = imported(job);
    std::map<base::Phase, int> phases;
    std::map<int, int> ready;
    for (const model::Batch& batch : run.batches) {
      for (const model::Span& span : batch.spans) {
        if (span.rank == 0 && span.depth == 0) ++phases[span.phase];
      }
      for (const model::UnitReady& each : batch.unit_ready) {
        if (each.rank == 0) ++ready[each.unit];
      }
      for (const model::Collective& call : batch.collectives) {
        const bool in_forward =
            run.strings.get(call.rank, call.tag_name).find(" forward ") != std::string_view::npos;
        EXPECT_EQ(call.phase, in_forward ? base::Phase::kForward : base::Phase::kBackward);
      }
    }
    EXPECT_EQ(phases[base::Phase::kForward], 8) << "the marks of its hooks are no phases";
    EXPECT_EQ(phases[base::Phase::kBackward], 8);
    EXPECT_EQ(phases[base::Phase::kOptimizer], 4);
    for (int unit = 0; unit < 3; ++unit) EXPECT_EQ(ready[unit], 4) << "once a step is reduced";
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

// Traces that are cut, or damaged, may mark any one thing alone of a unit.
TEST_F(FsdpImport, AUnitThatIsNeverGatheredIsOneOfWhichNothingIsKnown) {
  const FsdpJob job{.units = {1000, 2000, 3000}, .steps = 2};
  const std::string node = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad";
  for (const std::string mark : {"pre_backward", "post_backward_accumulate", "post_forward",
                                 "backward_prefetch", "root_post_backward_callback"}) {
    std::vector<std::filesystem::path> files;
    for (int rank = 0; rank < 2; ++rank) {
      std::string text = FsdpTraceWriter(job, rank).text();
      // In the last backward, and a gradient behind it.
      const auto last = text.find("\"ts\":", text.rfind("FSDP::pre_backward (layers.0)"));
      const double begin = std::stod(text.substr(last + 5));
      std::string more =
          complete("user_annotation", "FSDP::" + mark + " (stranger)", "77", begin + 1.1, 0.1);
      more += "," + complete("cpu_op", node, "77", begin + 2, 1);
      more += "," + complete("cpu_op", "torch::autograd::AccumulateGrad", "77", begin + 2.2, 0.5,
                             "\"Input type\":[\"float\"],\"Input Dims\":[[30]]");
      const std::string events = "\"traceEvents\":[";
      text.insert(text.find(events) + events.size(), more + ",");
      files.push_back(write("rank" + std::to_string(rank) + ".json", text));
    }
    ImportOptions options;
    options.name = "job";
    options.overwrite = true;
    const auto imported = import_kineto(files, runs(), options);
    ASSERT_TRUE(imported) << imported.error().message;
    const auto units = open(imported->folder).figures.units;
    ASSERT_EQ(units.size(), 4u) << mark;
    EXPECT_EQ(units.back().name, "stranger");
    EXPECT_EQ(units.back().bytes, 0);
    EXPECT_EQ(units[1].bytes, 4 * job.units[1]);
  }
}

}  // namespace
}  // namespace shardlens::trace::interop
