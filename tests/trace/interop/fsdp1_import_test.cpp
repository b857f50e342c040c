// What an import finds out about FullyShardedDataParallel, in traces of jobs that are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/trace/interop/fsdp1_traces.h"

namespace shardlens::trace::interop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Fsdp1Import : public KinetoImport {
 protected:
  Run imported(const FsdpJob& job) {
    const ImportedRun run = import_job<Fsdp1TraceWriter>(job);
    EXPECT_TRUE(run.warnings.empty()) << testing::PrintToString(run.warnings);
    return open(run.folder);
  }
  // Both ranks' traces as `change` leaves them.
  template <typename Change>
  ImportedRun import_changed(const FsdpJob& job, const Change& change) {
    std::vector<std::filesystem::path> files;
    for (int rank = 0; rank < 2; ++rank) {
      std::string text = Fsdp1TraceWriter(job, rank).text();
      change(text);
      files.push_back(write("rank" + std::to_string(rank) + ".json", text));
    }
    ImportOptions options;
    options.name = "job";
    options.overwrite = true;
    const auto run = import_kineto(files, runs(), options);
    EXPECT_TRUE(run) << run.error().message;
    return *run;
  }
};

FsdpJob drawn_modules(std::mt19937& random) {
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
  job.gathers_behind_gradients = random() % 2 == 0;
  job.on_gpu = random() % 2 == 0;
  return job;
}

TEST_F(Fsdp1Import, FindsTheModulesAndWhatEachCollectiveWasFor) {
  std::mt19937 random(5);
  for (int round = 0; round < 24; ++round) {
    const FsdpJob job = drawn_modules(random);
    const Run run = imported(job);
    const auto& units = run.figures.units;
    ASSERT_EQ(units.size(), job.units.size()) << round;
    for (std::size_t unit = 0; unit < units.size(); ++unit) {
      EXPECT_EQ(units[unit].name, Fsdp1TraceWriter::name(unit)) << round;
      EXPECT_EQ(units[unit].bytes, 4 * job.units[unit]) << round;
      EXPECT_EQ(units[unit].reduced_bytes, 4 * job.units[unit]) << round;
      EXPECT_EQ(units[unit].shard_bytes, 2 * job.units[unit]) << round;
      EXPECT_EQ(units[unit].shard_count, 2);
      EXPECT_TRUE(units[unit].parameters.empty()) << "its gradients are one tensor";
    }
    Fsdp1TraceWriter writer(job, 1);
    static_cast<void>(writer.text());
    EXPECT_EQ(tags_of_last_step(run.batches, run.strings), writer.calls()) << round;
  }
}

TEST_F(Fsdp1Import, MarksPhasesAndNamesModulesInMarks) {
  FsdpJob job{.units = {1000, 2000, 3000}, .steps = 4, .micro_batches = 2};
  for (const bool on_gpu : {false, true}) {
    job.on_gpu = on_gpu;
    const Run run = imported(job);
    std::map<base::Phase, int> phases;
    std::map<int, int> ready;
    std::map<std::string_view, int> marks;
    for (const model::Batch& batch : run.batches) {
      for (const model::Span& span : batch.spans) {
        if (span.rank != 0) continue;
        if (span.depth == 0) ++phases[span.phase];
        ++marks[run.strings.get(0, span.name)];
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
    EXPECT_EQ(phases[base::Phase::kForward], 8) << "one for each root's, no matter what is in it";
    EXPECT_EQ(phases[base::Phase::kBackward], 8);
    EXPECT_EQ(phases[base::Phase::kOptimizer], 4);
    for (int unit = 0; unit < 3; ++unit) EXPECT_EQ(ready[unit], 4) << "once a step is reduced";
    EXPECT_EQ(marks["FullyShardedDataParallel._pre_forward (module 2)"], 8);
    EXPECT_EQ(marks["FullyShardedDataParallel._post_backward_hook (root)"], 8);
  }
}

TEST_F(Fsdp1Import, OfModulesThatAreNotShardedTellsWhatIsReduced) {
  const FsdpJob job{.units = {1000, 2000}, .steps = 2, .shards = false};
  const Run run = imported(job);
  ASSERT_EQ(run.figures.units.size(), 2u);
  EXPECT_EQ(run.figures.units[1].bytes, 0) << "nothing gathers them";
  EXPECT_EQ(run.figures.units[1].reduced_bytes, 8000);
  EXPECT_EQ(run.figures.units[1].shard_count, 1);
  EXPECT_THAT(tags_of_last_step(run.batches, run.strings),
              ElementsAre("module 1 reduce", "root reduce"));
}

TEST_F(Fsdp1Import, ClaimsNothingThatSizesContradict) {
  const FsdpJob job{.units = {1000, 2000, 3000}, .steps = 2};
  const auto expect_refused = [&](const ImportedRun& imported, const std::string& why) {
    ASSERT_EQ(imported.warnings.size(), 1u);
    EXPECT_THAT(imported.warnings[0],
                HasSubstr("Units of FullyShardedDataParallel are not known: " + why));
    const Run run = open(imported.folder);
    EXPECT_TRUE(run.figures.units.empty());
    int phases = 0;
    for (const model::Batch& batch : run.batches) {
      for (const model::Collective& call : batch.collectives) {
        EXPECT_EQ(call.tag_kind, model::TagKind::kNone);
      }
      for (const model::Span& span : batch.spans) {
        phases += static_cast<int>(span.rank == 0 && span.depth == 0);
        EXPECT_EQ(run.strings.get(span.rank, span.name).find(" (module"), std::string_view::npos);
      }
    }
    EXPECT_EQ(phases, 2 * 3) << "what is marked without a name holds";
  };
  FsdpJob without_sizes = job;
  without_sizes.has_shapes = false;
  expect_refused(import_job<Fsdp1TraceWriter>(without_sizes), "it does not tell how much");
  const auto swap_sizes = [](std::string& text) {
    // The last gather is module 1's, in backward: now as large as module 2's.
    const std::string dims = "\"Input Dims\":[[1000]]";
    const auto last = text.rfind(dims, text.rfind("_post_backward_prefetch"));
    ASSERT_NE(last, text.npos);
    text.replace(last, dims.size(), "\"Input Dims\":[[1500]]");
  };
  expect_refused(import_changed(job, swap_sizes),
                 "for module 1 2,000 elements are moved at one time and 3,000 at another");
  const auto move_marks = [](std::string& text) {
    for (auto at = text.find("c10d::"); at != text.npos; at = text.find("c10d::", at + 1)) {
      text.replace(at, 6, "c10x::");
    }
  };
  expect_refused(import_changed(job, move_marks), "nothing was gathered or reduced");
}

TEST_F(Fsdp1Import, OfDamagedMarksMakesARunOrSaysWhyNot) {
  const FsdpJob job{.units = {1000, 2000, 3000}, .steps = 3};
  const std::string prefix = "FullyShardedDataParallel.";
  int refused = 0;
  for (unsigned round = 0; round < 60; ++round) {
    const auto damage = [&](std::string& text) {
      std::mt19937 random(round);  // the same on all ranks
      for (unsigned i = 0; i < 1 + random() % 3; ++i) {
        const auto at = text.find(prefix, random() % text.size());
        if (at == text.npos) continue;
        const auto duration = text.find("\"dur\":", at);
        if (random() % 3 == 0) {
          text.insert(duration + 6, random() % 2 == 0 ? "9" : "0.0");
        } else {
          text[at + prefix.size() + 1 + random() % 4] = 'x';
        }
      }
    };
    const ImportedRun imported = import_changed(job, damage);
    const bool has_units = !open(imported.folder).figures.units.empty();
    EXPECT_NE(has_units, !imported.warnings.empty()) << round;
    refused += static_cast<int>(!has_units);
  }
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace shardlens::trace::interop
