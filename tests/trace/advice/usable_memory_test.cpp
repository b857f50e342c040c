#include "trace/advice/facts/usable_memory.h"

#include <gtest/gtest.h>

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

TEST(UsableMemory, OfAGpuIsARanksOwnUnlessTheyShareIt) {
  auto figures = two_ranks("cuda:0");  // as each process may call its own
  EXPECT_EQ(usable_bytes(figures, 4), 15 * kOneGib);
  figures.info.shared_gpu = true;
  EXPECT_EQ(usable_bytes(figures, 2), 7 * kOneGib);
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
