#include "trace/analysis/steps/joined_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace shardlens::trace::analysis {
namespace {

std::vector<model::Step> rows(int ranks, std::int64_t steps) {
  std::vector<model::Step> all;
  for (std::int64_t step = 0; step < steps; ++step) {
    for (int rank = 0; rank < ranks; ++rank) {
      model::Step row;
      row.rank = rank;
      row.index = 3 * step;
      row.start_ns = 1000 * step;
      row.end_ns = row.start_ns + 100 + rank;
      row.loss = static_cast<double>(step);
      all.push_back(row);
    }
  }
  return all;
}

JoinedSteps table_of(const std::vector<model::Step>& rows, std::size_t in_one_go) {
  JoinedSteps table(2);
  table.set_rank_count(2);
  table.set_world_size(2);
  for (std::size_t i = 0; i < rows.size(); i += in_one_go) {
    const auto from = rows.begin() + static_cast<std::ptrdiff_t>(i);
    const auto count = static_cast<std::ptrdiff_t>(std::min(in_one_go, rows.size() - i));
    table.add(std::vector<model::Step>(from, from + count));
  }
  return table;
}

// A rank of another program may tell its steps from the last to the first.
TEST(JoinedSteps, IsTheSameInWhateverOrderStepsCome) {
  std::vector<model::Step> all = rows(2, 40);
  const JoinedSteps expected = table_of(all, 1);
  ASSERT_EQ(expected.steps().size(), 40u);
  std::mt19937 random(1);
  for (std::size_t in_one_go : {1u, 7u, 80u}) {
    std::ranges::reverse(all);
    for (int i = 0; i < 3; ++i, std::ranges::shuffle(all, random)) {
      const JoinedSteps table = table_of(all, in_one_go);
      ASSERT_EQ(table.steps().size(), expected.steps().size());
      for (std::size_t at = 0; at < table.steps().size(); ++at) {
        const StepFigures &step = table.steps()[at], &same = expected.steps()[at];
        EXPECT_EQ(step.index, same.index);
        EXPECT_EQ(step.complete, same.complete);
        EXPECT_EQ(step.warmup, same.warmup);
        EXPECT_EQ(step.start_ns, same.start_ns);
        EXPECT_EQ(step.end_ns, same.end_ns);
        EXPECT_EQ(step.loss, same.loss);
        EXPECT_EQ(step.slowest_rank, same.slowest_rank);
        EXPECT_EQ(step.ranks[1].step_ns, 101);
      }
    }
  }
}

TEST(JoinedSteps, SkipsTheFirstStepsOfAResumedRun) {
  std::vector<model::Step> all = rows(2, 4);
  for (model::Step& row : all) row.index = 8 + row.index / 3;
  std::ranges::reverse(all);
  for (std::size_t in_one_go : {1u, 3u, 8u}) {
    const JoinedSteps table = table_of(all, in_one_go);
    std::vector<bool> skipped;
    for (const StepFigures& step : table.steps()) skipped.push_back(step.warmup);
    EXPECT_EQ(skipped, (std::vector<bool>{true, true, false, false})) << in_one_go;
  }
}

}  // namespace
}  // namespace shardlens::trace::analysis
