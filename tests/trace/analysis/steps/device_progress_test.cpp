#include "trace/analysis/steps/device_progress.h"

#include <gtest/gtest.h>

namespace shardlens::trace::analysis {
namespace {

using Source = DeviceProgress::Source;

constexpr std::int64_t kSilenceNs = 100;

TEST(DeviceProgress, IsThatOfTheLaneThatIsBehind) {
  DeviceProgress progress;
  progress.settle(kSilenceNs);
  EXPECT_EQ(progress.until_ns(), INT64_MIN) << "nothing came";
  progress.add(Source::kEvents, 1, 1'050);
  progress.add(Source::kEvents, 2, 1'000);
  progress.settle(kSilenceNs);
  EXPECT_EQ(progress.until_ns(), 1'000);
  progress.add(Source::kEvents, 2, 1'090);
  progress.add(Source::kEvents, 2, 1'080);
  progress.settle(kSilenceNs);
  EXPECT_EQ(progress.until_ns(), 1'050);
}

TEST(DeviceProgress, RowsAndEventsOfALaneAreToldApart) {
  DeviceProgress progress;
  progress.add(Source::kEvents, 1, 1'050);
  progress.add(Source::kCollectives, 1, 1'000);
  progress.settle(kSilenceNs);
  EXPECT_EQ(progress.until_ns(), 1'000) << "the kernel is there, its collective is not";
}

TEST(DeviceProgress, ALaneThatIsSilentHoldsNothingBack) {
  DeviceProgress progress;
  progress.add(Source::kEvents, 1, 1'000);
  progress.add(Source::kEvents, 2, 1'100);
  progress.settle(kSilenceNs);
  EXPECT_EQ(progress.until_ns(), 1'000);
  progress.add(Source::kEvents, 2, 1'101);
  progress.settle(kSilenceNs);
  EXPECT_EQ(progress.until_ns(), 1'101);
}

TEST(DeviceProgress, NeverGoesBack) {
  DeviceProgress progress;
  progress.add(Source::kEvents, 1, 1'000);
  progress.settle(kSilenceNs);
  progress.add(Source::kEvents, 2, 950);
  progress.settle(kSilenceNs);
  EXPECT_EQ(progress.until_ns(), 1'000);
}

}  // namespace
}  // namespace shardlens::trace::analysis
