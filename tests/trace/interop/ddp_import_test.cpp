// What an import finds out about DDP, in traces of jobs that are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/trace/interop/ddp_traces.h"
#include "tests/trace/interop/kineto_traces.h"
#include "trace/base/intervals.h"

namespace shardlens::trace::interop {
namespace {

using testing::HasSubstr;

class DdpImport : public KinetoImport {
 protected:
  Run imported(const DdpJob& job) {
    const ImportedRun run = import_job<DdpTraceWriter>(job);
    warnings_ = run.warnings;
    return open(run.folder);
  }
  // Of rank 0.
  static std::vector<base::Interval> phases_of(const Run& run, base::Phase phase) {
    std::vector<base::Interval> times;
    for (const model::Batch& batch : run.batches) {
      for (const model::Span& span : batch.spans) {
        if (span.rank != 0 || span.depth != 0 || span.phase != phase) continue;
        times.push_back({span.start_ns, span.end_ns});
      }
    }
    return times;
  }
  static std::int64_t phase_count(const Run& run, base::Phase phase) {
    return std::ssize(phases_of(run, phase));
  }
  static std::int64_t phase_sum(const Run& run, base::Phase phase) {
    std::int64_t sum = 0;
    for (const base::Interval& time : phases_of(run, phase)) sum += time.end_ns - time.start_ns;
    return sum;
  }
  std::vector<std::string> warnings_;
};

// Gradients and buckets of a job, drawn.
DdpJob drawn_job(std::mt19937& random) {
  DdpJob job;
  job.gradients.resize(1 + random() % 20);
  for (auto& elements : job.gradients) elements = 1 + random() % 100'000;
  for (std::size_t left = job.gradients.size(); left > 0; left -= job.buckets.back()) {
    job.buckets.push_back(1 + random() % left);
  }
  job.steps = 3;
  job.micro_batches = 1 + static_cast<int>(random() % 3);
  job.reduces_each = random() % 2 == 0;
  job.on_gpu = random() % 2 == 0;
  job.marks_phases = random() % 2 == 0;
  if (random() % 3 == 0) job.reduced_type = "c10::BFloat16";
  return job;
}

TEST_F(DdpImport, FindsTheBucketsThatTheJobReduced) {
  std::mt19937 random(11);
  for (int round = 0; round < 24; ++round) {
    const DdpJob job = drawn_job(random);
    const Run run = imported(job);
    EXPECT_TRUE(warnings_.empty()) << round << ": " << testing::PrintToString(warnings_);
    const auto& buckets = run.figures.buckets;
    ASSERT_EQ(buckets.size(), job.buckets.size()) << round;
    std::size_t first = 0;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      EXPECT_EQ(buckets[b].bytes, 4 * job.elements_of(b)) << round;
      ASSERT_EQ(buckets[b].parameter_bytes.size(), job.buckets[b]) << round;
      for (std::size_t i = 0; i < job.buckets[b]; ++i) {
        const std::int64_t elements = job.gradients[first + i];
        EXPECT_EQ(buckets[b].parameter_bytes[i], 4 * elements) << round;
        EXPECT_EQ(buckets[b].parameters[i], "[" + std::to_string(elements) + "]");
      }
      first += job.buckets[b];
      EXPECT_EQ(buckets[b].oversize_reason, "") << "no cap is known";
    }
    const std::size_t reductions =
        job.reduces_each ? static_cast<std::size_t>(job.micro_batches) : 1;
    std::map<int, std::size_t> tagged;
    for (const model::Batch& batch : run.batches) {
      for (const model::Collective& call : batch.collectives) {
        ASSERT_EQ(call.tag_kind, model::TagKind::kBucket) << round;
        ++tagged[call.tag_index];
        const std::int64_t bytes = job.reduced_type == "float" ? 4 : 2;
        EXPECT_EQ(call.bytes, bytes * job.elements_of(static_cast<std::size_t>(call.tag_index)));
        EXPECT_EQ(call.phase, base::Phase::kBackward) << round;
        EXPECT_GT(call.enqueued_ns, 0);
      }
    }
    for (const auto& [bucket, count] : tagged) EXPECT_EQ(count, 2 * 3 * reductions) << round;
  }
}

TEST_F(DdpImport, ReadsFromTheHostWhatKernelsDoNotTell) {
  DdpJob job{.gradients = {1000, 2000, 500}, .buckets = {1, 2}, .on_gpu = true};
  for (const ToldBy told_by : {ToldBy::kRecord, ToldBy::kOperator}) {
    job.told_by = told_by;
    const bool tells_types = told_by == ToldBy::kRecord;
    const Run run = imported(job);
    EXPECT_TRUE(warnings_.empty()) << testing::PrintToString(warnings_);
    ASSERT_EQ(run.figures.buckets.size(), 2u);
    EXPECT_EQ(run.figures.buckets[1].bytes, 4 * 2500);
    EXPECT_EQ(run.figures.buckets[1].parameter_bytes, (std::vector<std::int64_t>{8000, 2000}));
    int calls = 0;
    for (const model::Batch& batch : run.batches) {
      for (const model::Collective& call : batch.collectives) {
        EXPECT_EQ(call.function, model::CollectiveFunction::kAllReduce);
        EXPECT_EQ(call.bytes, tells_types ? call.tag_index == 0 ? 4000 : 10'000 : model::kNotKnown);
        EXPECT_EQ(call.sequence, calls++ % (2 * job.steps));
      }
    }
    EXPECT_EQ(calls, 2 * 2 * job.steps);
    // Of two ranks each sends as much as there is.
    const auto sent = tells_types ? std::optional(14'000.0) : std::nullopt;
    EXPECT_EQ(run.figures.summary.bytes_sent_per_step, sent);
  }
}

TEST_F(DdpImport, MarksForwardAndBackwardWhereTheProgramDoesNot) {
  DdpJob job{.gradients = {1000, 2000}, .buckets = {1, 1}, .steps = 4, .micro_batches = 2};
  for (const bool on_gpu : {false, true}) {
    job.on_gpu = on_gpu;
    const Run run = imported(job);
    EXPECT_EQ(phase_count(run, base::Phase::kForward), 8);
    EXPECT_EQ(phase_count(run, base::Phase::kBackward), 8);
    EXPECT_EQ(phase_count(run, base::Phase::kOptimizer), 4);
  }
}

TEST_F(DdpImport, BackwardIsOverWhereTheHostHasGoneOnBeforeTheEndOfACollectiveIsNoted) {
  DdpJob job{.gradients = {1000, 2000}, .buckets = {1, 1}, .steps = 4};
  const std::int64_t backward_ns = phase_sum(imported(job), base::Phase::kBackward);
  job.noted_late_us = 450;  // beyond the optimizer, into the next forward
  const Run run = imported(job);
  EXPECT_EQ(phase_count(run, base::Phase::kForward), 4);
  EXPECT_EQ(phase_count(run, base::Phase::kOptimizer), 4);
  EXPECT_NEAR(static_cast<double>(phase_sum(run, base::Phase::kBackward)),
              static_cast<double>(backward_ns), 4 * 6'000);
}

TEST_F(DdpImport, NamesWhatTellsOfUnusedParameters) {
  for (const bool on_gpu : {false, true}) {
    DdpJob job{.gradients = {1000, 2000, 500}, .buckets = {2, 1}, .on_gpu = on_gpu};
    job.looks_for_unused = true;
    const Run run = imported(job);
    EXPECT_TRUE(warnings_.empty()) << testing::PrintToString(warnings_);
    EXPECT_EQ(run.figures.buckets.size(), 2u);
    int named = 0;
    for (const model::Batch& batch : run.batches) {
      for (const model::Collective& call : batch.collectives) {
        if (call.tag_kind != model::TagKind::kNamed) continue;
        EXPECT_EQ(run.strings.get(call.rank, call.tag_name), "used parameters");
        EXPECT_EQ(call.bytes, 3 * 4);
        ++named;
      }
    }
    EXPECT_EQ(named, 2 * job.steps);
  }
}

TEST_F(DdpImport, DoesNotKnowWhatASparseReductionHolds) {
  const DdpJob job{.gradients = {1000, 2000}, .buckets = {1, 1}};
  const std::string dense = "gloo:all_reduce";
  const ImportedRun imported_run = import_changed<DdpTraceWriter>(job, [&](std::string& text) {
    for (auto at = text.find(dense); at != text.npos; at = text.find(dense, at + 1)) {
      text.replace(at, dense.size(), "gloo:sparse_all_reduce");
    }
  });
  EXPECT_THAT(imported_run.warnings, testing::ElementsAre(HasSubstr("gradients are sparse")));
  const Run run = open(imported_run.folder);
  EXPECT_TRUE(run.figures.buckets.empty());
  for (const model::Batch& batch : run.batches) {
    for (const model::Collective& call : batch.collectives) {
      EXPECT_EQ(call.function, model::CollectiveFunction::kAllReduce);
      EXPECT_EQ(call.bytes, model::kNotKnown);
    }
  }
}

TEST_F(DdpImport, SaysWhyThereAreNoBuckets) {
  DdpJob job{.gradients = {1000, 2000}, .buckets = {2}};
  job.more_elements = 24;
  Run run = imported(job);
  EXPECT_TRUE(run.figures.buckets.empty());
  EXPECT_THAT(warnings_, testing::Contains(
                             HasSubstr("all-reduce of 3,024 elements follows gradients of 3,000")));
  for (const model::Batch& batch : run.batches) {
    for (const auto& call : batch.collectives) EXPECT_EQ(call.tag_kind, model::TagKind::kNone);
  }
}

TEST_F(DdpImport, AGradientWithoutATypeIsNoSingleValue) {
  const DdpJob job{.gradients = {1000, 2000}, .buckets = {1, 1}};
  const std::string dense = "[\"float\"],\"Input Dims\":[[2000]]";
  const ImportedRun imported_run = import_changed<DdpTraceWriter>(job, [&](std::string& text) {
    const auto gradient = text.find("\"torch::autograd::AccumulateGrad");
    const auto second = text.find("\"torch::autograd::AccumulateGrad", gradient + 1);
    text.replace(text.find(dense, second), dense.size(), "[\"\"],\"Input Dims\":[[]]");
  });
  EXPECT_THAT(imported_run.warnings,
              testing::ElementsAre(HasSubstr("sizes of some gradients (sparse ones have none)")));
}

// Before an event of each trace's first step.
void insert_into_first_step(std::string& text, const std::vector<std::string>& events) {
  const auto begin = text.find("{", text.find("traceEvents"));
  for (const std::string& event : events) text.insert(begin, event + ",");
}

TEST_F(DdpImport, OtherCallsCostItNothing) {
  const DdpJob job{.gradients = {1000, 2000}, .buckets = {1, 1}};
  const std::string type = ",\"Input type\":[\"float\"]";
  const auto add_others = [&](std::string& text) {
    insert_into_first_step(
        text,
        {complete("cpu_op", "c10d::barrier", "77", 1001, 1, "\"Input Dims\":[[1],[]]"),
         complete("user_annotation", "gloo:barrier", "80", 1001.5, 0.4),
         complete("cpu_op", "c10d::gather_", "77", 1002.2, 0.2, "\"Input Dims\":[[],[[10]],[]]"),
         complete("user_annotation", "gloo:gather", "80", 1002.3, 0.4,
                  "\"Input Dims\":[[10]]" + type),
         // Of nobody.
         complete("user_annotation", "gloo:recv", "80", 1003, 0.4, "\"Input Dims\":[[3]]" + type)});
  };
  const ImportedRun imported_run = import_changed<DdpTraceWriter>(job, add_others);
  EXPECT_TRUE(imported_run.warnings.empty()) << testing::PrintToString(imported_run.warnings);
  const Run run = open(imported_run.folder);
  EXPECT_EQ(run.figures.buckets.size(), 2u);
  std::map<model::CollectiveFunction, std::int64_t> bytes;
  for (const model::Batch& batch : run.batches) {
    for (const auto& call : batch.collectives) {
      bytes[call.function] = call.bytes;
      if (call.function != model::CollectiveFunction::kOther) continue;
      EXPECT_EQ(run.strings.get(call.rank, call.tag_name), "gather");
    }
  }
  EXPECT_EQ(bytes.size(), 4u);
  EXPECT_EQ(bytes.at(model::CollectiveFunction::kOther), model::kNotKnown);
  EXPECT_EQ(bytes.at(model::CollectiveFunction::kReceive), 3 * 4);
  EXPECT_EQ(bytes.at(model::CollectiveFunction::kBarrier), 0);
}

TEST_F(DdpImport, SaysOfWhichReductionsNothingAskedInTheTrace) {
  const DdpJob job{.gradients = {1000, 2000}, .buckets = {1, 1}, .steps = 3};
  const auto lose_a_call = [](std::string& text) {
    auto fourth = text.find("c10d::allreduce_");
    for (int i = 0; i < 3; ++i) fourth = text.find("c10d::allreduce_", fourth + 1);
    text.replace(fourth, 16, "c10d::somethingX");
  };
  const ImportedRun cut = import_changed<DdpTraceWriter>(job, lose_a_call);
  EXPECT_TRUE(open(cut.folder).figures.buckets.empty());
  EXPECT_THAT(cut.warnings,
              testing::ElementsAre(HasSubstr("for 3 of 6 all-reduces and all-gathers it is not "
                                             "clear which call asked for them")))
      << "of those of its size; others are known";
}

TEST_F(DdpImport, KnowsTheBytesOfBucketsWithoutShapesWhereKernelsTellThem) {
  DdpJob job{.gradients = {1000, 2000, 500}, .buckets = {1, 2}, .on_gpu = true};
  job.has_shapes = false;
  Run run = imported(job);
  ASSERT_EQ(run.figures.buckets.size(), 2u);
  EXPECT_EQ(run.figures.buckets[1].bytes, 10'000);
  EXPECT_TRUE(run.figures.buckets[1].parameter_bytes.empty());
  job.on_gpu = false;
  run = imported(job);
  EXPECT_TRUE(run.figures.buckets.empty()) << "Gloo's collectives have no sizes then";
  EXPECT_THAT(warnings_, testing::ElementsAre(HasSubstr("record_shapes=True")));
}

}  // namespace
}  // namespace shardlens::trace::interop
