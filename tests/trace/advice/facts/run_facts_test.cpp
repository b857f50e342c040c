#include "trace/advice/facts/run_facts.h"

#include <gtest/gtest.h>

#include "trace/analysis/run/run_analysis.h"

namespace shardlens::trace::advice {
namespace {

constexpr std::int64_t kOneGib = 1 << 30;

// Two ranks on one host, of whose device with 16 GiB each holds 1 GiB outside of tensors.
analysis::RunFigures two_ranks(const char* device) {
  analysis::RunFigures figures;
  figures.ranks.assign(2, {});
  for (auto& rank : figures.ranks) {
    rank.info.host = "here";
    rank.info.device = device;
    rank.has_step_memory = true;
    rank.peak.device_total_bytes = 16 * kOneGib;
    rank.peak.bytes[static_cast<std::size_t>(model::MemoryCategory::kOutside)] = kOneGib;
    rank.peak.bytes[static_cast<std::size_t>(model::MemoryCategory::kActivations)] = kOneGib;
  }
  return figures;
}

TEST(UsableMemory, OfAHostIsSharedByTheRanksThatWouldTrain) {
  const auto figures = two_ranks("cpu");
  EXPECT_EQ(usable_bytes(figures, 2), 7 * kOneGib);
  EXPECT_EQ(usable_bytes(figures, 4), 3 * kOneGib);
  EXPECT_EQ(usable_bytes(figures, 1), 15 * kOneGib);
}

// Of 16 GiB each of 32 ranks would have half of one, and holds one outside of tensors.
TEST(UsableMemory, IsKnownWhereNothingIsLeft) {
  auto figures = two_ranks("cpu");
  EXPECT_EQ(usable_bytes(figures, 16), 1) << "all of it";
  EXPECT_EQ(usable_bytes(figures, 32), 1);
  figures.ranks[1].peak.bytes[static_cast<std::size_t>(model::MemoryCategory::kOutside)] =
      9 * kOneGib;
  EXPECT_EQ(usable_bytes(figures, 2), 1) << "of the rank that has least";
}

TEST(UsableMemory, OfAGpuIsARanksOwn) {
  const auto figures = two_ranks("cuda:0");  // as each process may call its own
  EXPECT_EQ(usable_bytes(figures, 4), 15 * kOneGib);
}

// Of 7 GiB in use tensors of the two are 1 and 2: of the other 4 nobody knows whose they are.
TEST(UsableMemory, OfAGpuThatRanksShareIsAnEqualPartOfAllThatIsNotHeldBeyondTensors) {
  model::RunInfo info;
  info.world_size = 2;
  info.shared_gpu = true;
  analysis::RunAnalysis analysis(info);
  for (int rank : {0, 1}) {
    model::MemorySample sample;
    sample.rank = rank;
    sample.step = 0;
    sample.time_ns = 1;
    sample.bytes[static_cast<std::size_t>(model::MemoryCategory::kActivations)] =
        (rank + 1) * kOneGib;
    sample.bytes[static_cast<std::size_t>(model::MemoryCategory::kOutside)] = 4 * kOneGib;
    sample.reserved_bytes = 3 * kOneGib;
    sample.device_used_bytes = 7 * kOneGib;
    sample.device_total_bytes = 16 * kOneGib;
    model::Batch batch;
    batch.rank_info.emplace().rank = rank;
    batch.rank_info->host = "here";
    batch.rank_info->device = "cuda:0";
    batch.memory = {sample};
    analysis.add(batch);
  }
  auto figures = analysis.figures();
  EXPECT_EQ(usable_bytes(figures, 2), 6 * kOneGib);
  figures.ranks[0].now.device_used_bytes = 9 * kOneGib;
  EXPECT_EQ(usable_bytes(figures, 2), 5 * kOneGib) << "a peak's own was asked before it";
  figures.ranks[0].now.device_used_bytes = 0;
  for (auto& rank : figures.ranks) {
    rank.peak.device_used_bytes = rank.now.device_used_bytes = model::kNotKnown;
  }
  EXPECT_EQ(usable_bytes(figures, 2), 0) << "not known";
}

TEST(UsableMemory, IsNotKnownWithoutWhatLiesOutside) {
  auto figures = two_ranks("cpu");
  for (auto& rank : figures.ranks) {
    rank.peak.bytes[static_cast<std::size_t>(model::MemoryCategory::kOutside)] = 0;
  }
  EXPECT_EQ(usable_bytes(figures, 2), 0);
}

}  // namespace
}  // namespace shardlens::trace::advice
