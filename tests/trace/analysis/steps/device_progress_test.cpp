#include "trace/analysis/steps/device_progress.h"

#include <gtest/gtest.h>

namespace shardlens::trace::analysis {
namespace {

using Source = DeviceProgress::Source;

// Steps in every one of which each lane has something to do: it may be silent for 100 ns.
DeviceProgress of_short_steps() {
  DeviceProgress progress;
  model::Step step;
  step.end_ns = 50;
  progress.add(step);
  return progress;
}

TEST(DeviceProgress, IsThatOfTheLaneThatIsBehind) {
  DeviceProgress progress = of_short_steps();
  progress.settle(DeviceRecords::kBrokeOff);
  EXPECT_EQ(progress.until_ns(), INT64_MIN) << "nothing came";
  progress.add(Source::kEvents, 1, 1'050);
  progress.add(Source::kEvents, 2, 1'000);
  progress.settle(DeviceRecords::kBrokeOff);
  EXPECT_EQ(progress.until_ns(), 1'000);
  progress.add(Source::kEvents, 2, 1'090);
  progress.add(Source::kEvents, 2, 1'080);
  progress.settle(DeviceRecords::kBrokeOff);
  EXPECT_EQ(progress.until_ns(), 1'050);
}

TEST(DeviceProgress, RowsAndEventsOfALaneAreToldApart) {
  DeviceProgress progress = of_short_steps();
  progress.add(Source::kEvents, 1, 1'050);
  progress.add(Source::kCollectives, 1, 1'000);
  progress.settle(DeviceRecords::kBrokeOff);
  EXPECT_EQ(progress.until_ns(), 1'000) << "the kernel is there, its collective is not";
}

TEST(DeviceProgress, ALaneThatIsSilentHoldsNothingBack) {
  DeviceProgress progress = of_short_steps();
  progress.add(Source::kEvents, 1, 1'000);
  progress.add(Source::kEvents, 2, 1'100);
  progress.settle(DeviceRecords::kBrokeOff);
  EXPECT_EQ(progress.until_ns(), 1'000);
  progress.add(Source::kEvents, 2, 1'101);
  progress.settle(DeviceRecords::kBrokeOff);
  EXPECT_EQ(progress.until_ns(), 1'101);
}

TEST(DeviceProgress, NeverGoesBack) {
  DeviceProgress progress = of_short_steps();
  progress.add(Source::kEvents, 1, 1'000);
  progress.settle(DeviceRecords::kBrokeOff);
  progress.add(Source::kEvents, 2, 950);
  progress.settle(DeviceRecords::kBrokeOff);
  EXPECT_EQ(progress.until_ns(), 1'000);
}

}  // namespace
}  // namespace shardlens::trace::analysis
