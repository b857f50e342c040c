// What an import finds out about FullyShardedDataParallel, in traces of jobs that are known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/trace/interop/fsdp1_traces.h"
#include "tests/trace/interop/unit_import.h"

namespace shardlens::trace::interop {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Fsdp1Import : public UnitImport<Fsdp1TraceWriter> {};

TEST_F(Fsdp1Import, FindsTheModulesAndWhatEachCollectiveWasFor) {
  std::mt19937 random(5);
  for (int round = 0; round < 24; ++round) {
    SCOPED_TRACE(round);
    FsdpJob job = drawn_units(random);
    job.gathers_behind_gradients = random() % 2 == 0;
    for (const auto& unit : expect_units(job).figures.units) {
      EXPECT_TRUE(unit.parameters.empty()) << "its gradients are one tensor";
    }
  }
}

TEST_F(Fsdp1Import, MarksPhasesAndNamesModulesInMarks) {
  FsdpJob job{.units = {1000, 2000, 3000}, .steps = 4, .micro_batches = 2};
  for (const bool on_gpu : {false, true}) {
    job.on_gpu = on_gpu;
    auto marks = expect_phases(imported(job));
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
  expect_refused(import_changed<Fsdp1TraceWriter>(job, swap_sizes),
                 "for module 1 2,000 elements are moved at one time and 3,000 at another");
  const auto move_marks = [](std::string& text) {
    for (auto at = text.find("c10d::"); at != text.npos; at = text.find("c10d::", at + 1)) {
      text.replace(at, 6, "c10x::");
    }
  };
  expect_refused(import_changed<Fsdp1TraceWriter>(job, move_marks),
                 "for 16 of 16 all-reduces and all-gathers it is not clear which call asked");
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
    const ImportedRun imported = import_changed<Fsdp1TraceWriter>(job, damage);
    const bool has_units = !open(imported.folder).figures.units.empty();
    EXPECT_NE(has_units, !imported.warnings.empty()) << round;
    refused += static_cast<int>(!has_units);
  }
  EXPECT_GT(refused, 20);
}

}  // namespace
}  // namespace shardlens::trace::interop
