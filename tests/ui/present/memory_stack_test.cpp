#include "ui/present/memory_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tests/ui/testing/sample_snapshot.h"

namespace shardlens::ui::present {

namespace {

TEST(MemoryStacks, ListACategoryThatIsGoneAtThePeak) {
  auto ranks = sample_snapshot().run->figures.ranks;
  constexpr auto kGradients = static_cast<std::size_t>(trace::model::MemoryCategory::kGradients);
  for (auto& rank : ranks) rank.peak.bytes[kGradients] = 0;
  EXPECT_THAT(memory_stacks(ranks).categories,
              testing::Not(testing::Contains(trace::model::MemoryCategory::kGradients)));
  ranks[0].category_peaks[kGradients] = 4096;
  const auto stacks = memory_stacks(ranks);
  EXPECT_THAT(stacks.categories, testing::Contains(trace::model::MemoryCategory::kGradients));
  EXPECT_DOUBLE_EQ(stacks.bars[0].category_peaks[kGradients], 4096);
}

TEST(MemoryStacks, NameACategoryOfWhichNobodyTold) {
  using trace::model::MemoryCategory;
  auto ranks = sample_snapshot().run->figures.ranks;
  constexpr auto kGradients = static_cast<std::size_t>(MemoryCategory::kGradients);
  for (auto& rank : ranks) {
    rank.peak.bytes[kGradients] = rank.category_peaks[kGradients] = 0;
    rank.peak.untold = trace::model::MemorySample::bit(MemoryCategory::kGradients);
  }
  const auto stacks = memory_stacks(ranks);
  EXPECT_THAT(stacks.categories, testing::Contains(MemoryCategory::kGradients));
  EXPECT_EQ(part_text(stacks.bars[0], MemoryCategory::kGradients), "not known");
  EXPECT_NE(part_text(stacks.bars[0], MemoryCategory::kParameters), "not known");
  for (auto& rank : ranks) rank.peak.untold = trace::model::MemorySample::kUntoldPurposes;
  EXPECT_THAT(memory_stacks(ranks).categories,
              testing::Not(testing::Contains(MemoryCategory::kGradients)))
      << "of none is anything known";
}

TEST(MemoryStacks, SumToThePeak) {
  const auto stacks = memory_stacks(sample_snapshot().run->figures.ranks);
  ASSERT_EQ(stacks.bars.size(), 2u);
  EXPECT_EQ(stacks.largest, 1u);
  for (const MemoryBar& bar : stacks.bars) {
    double sum = 0;
    for (const auto& part : bar.parts) sum += part.bytes;
    EXPECT_DOUBLE_EQ(sum, bar.peak);
    EXPECT_LE(bar.peak, stacks.top);
    EXPECT_LE(bar.estimate, stacks.top);
  }
  EXPECT_EQ(stacks.categories.size(), 7u) << "gathered parameters exist in no DDP run";
  EXPECT_EQ(estimate_note({.rank = 0, .parts = {}, .peak = 100, .estimate = 103}),
            "Estimate 103 B, 3.0 % above");
  EXPECT_TRUE(memory_stacks({}).bars.empty());
}

TEST(MemoryStacks, OfManyRanksShowTheHighestFirstAndFoldTheRest) {
  constexpr double kGib = 1024.0 * 1024 * 1024;
  MemoryStacks stacks;
  for (int rank = 0; rank < 256; ++rank) {
    MemoryBar bar;
    bar.rank = rank;
    bar.peak = (9.6 + 0.001 * rank) * kGib;
    stacks.bars.push_back(bar);
  }
  stacks.bars[7].peak = 12 * kGib;
  const MemoryFold fold = folded_bars(stacks, 6);
  EXPECT_EQ(fold.shown, (std::vector<std::size_t>{7, 255, 254, 253, 252}));
  EXPECT_EQ(fold.rest, 251u);
  EXPECT_EQ(rest_text(fold), "and 251 more between 9.60 and 9.85 GiB");
  EXPECT_EQ(folded_bars(stacks, 256).shown.size(), 256u);
  EXPECT_EQ(folded_bars(stacks, 256).shown.front(), 0u) << "by rank where there is room";
}

TEST(MemoryStacks, HaveAPresentOnlyWhileTheRunGoesOn) {
  const auto ranks = sample_snapshot().run->figures.ranks;
  EXPECT_GT(memory_stacks(ranks, true).bars.at(0).now, 0);
  EXPECT_EQ(memory_stacks(ranks, false).bars.at(0).now, 0);
}

TEST(MemoryStacks, ThePresentIsNeverAboveThePeakThoughTheHeapKeepsWhatTensorsFreed) {
  auto ranks = sample_snapshot().run->figures.ranks;
  const auto outside = static_cast<std::size_t>(trace::model::MemoryCategory::kOutside);
  ranks[0].now.bytes[outside] = 2 * ranks[0].peak.total_bytes();
  const MemoryStacks stacks = memory_stacks(ranks, true);
  EXPECT_LT(stacks.bars.at(0).now, stacks.bars.at(0).peak);
  EXPECT_EQ(stacks.top, memory_stacks(ranks, false).top) << "nor does it stretch the axis";
}

}  // namespace

}  // namespace shardlens::ui::present
