#include "trace/explore/rank_rows.h"

#include <gtest/gtest.h>

#include <vector>

namespace shardlens::trace {
namespace {

MemorySample sample_at(std::int64_t time_ns, std::int64_t bytes, bool is_peak) {
  MemorySample sample;
  sample.time_ns = time_ns;
  sample.is_peak = is_peak;
  sample.bytes[static_cast<std::size_t>(MemoryCategory::kActivations)] = bytes;
  return sample;
}

Step step_of(std::int64_t index, std::int64_t start_ns, std::int64_t end_ns) {
  Step step;
  step.index = index;
  step.start_ns = start_ns;
  step.end_ns = end_ns;
  return step;
}

std::vector<double> values(const RankRows& rows) {
  std::vector<double> values;
  for (const AreaSample& sample : rows.memory) values.push_back(sample.value);
  return values;
}

TEST(RankRows, APeakIsDrawnWhereItWas) {
  RankRowsBuilder builder(0);
  RowPart part;
  part.rows.steps = {step_of(0, 1'000, 2'000)};
  part.rows.memory = {sample_at(1'100, 10, false), sample_at(1'900, 20, false),
                      sample_at(1'400, 70, true)};
  builder.add(std::move(part));
  const auto rows = builder.build();
  EXPECT_EQ(values(*rows), (std::vector<double>{10, 70, 20}));
  EXPECT_EQ(rows->highest_memory, 70);
}

TEST(RankRows, APeakOfWhichNobodyKnowsWhenItWasIsNotDrawn) {
  RankRowsBuilder builder(0);
  RowPart part;
  part.rows.steps = {step_of(0, 1'000, 2'000)};
  part.rows.memory = {sample_at(1'100, 10, false), sample_at(1'999, 70, true),  // as the step ended
                      sample_at(500, 80, true)};                                // in none
  builder.add(std::move(part));
  const auto rows = builder.build();
  EXPECT_EQ(values(*rows), (std::vector<double>{10}));
  EXPECT_EQ(rows->highest_memory, 10);
}

TEST(RankRows, APeakWaitsForItsStep) {
  RankRowsBuilder builder(0);
  RowPart part;
  part.rows.memory = {sample_at(1'100, 10, false), sample_at(1'400, 70, true)};
  builder.add(std::move(part));
  EXPECT_EQ(values(*builder.build()), (std::vector<double>{10}));
  RowPart later;
  later.rows.steps = {step_of(0, 1'000, 2'000)};
  builder.add(std::move(later));
  EXPECT_EQ(values(*builder.build()), (std::vector<double>{10, 70}));
}

}  // namespace
}  // namespace shardlens::trace
