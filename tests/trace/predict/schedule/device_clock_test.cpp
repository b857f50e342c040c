#include "trace/predict/schedule/device_clock.h"

#include <gtest/gtest.h>

namespace shardlens::trace::predict {
namespace {

TEST(DeviceClock, OfNoDeviceIsTheHosts) {
  DeviceClock clock;
  clock.sort();
  EXPECT_FALSE(clock.is_used());
  EXPECT_EQ(clock.at(42), 42);
  clock.add_launch(10, 1);
  clock.sort();
  EXPECT_EQ(clock.at(42), 42) << "a launch without its kernel tells nothing";
}

// Launched at 10 and 20, done at 100 and 150; the third is launched when the device is idle.
TEST(DeviceClock, ComesToAMomentWithTheLastKernelBeforeIt) {
  DeviceClock clock;
  clock.add_kernel(2, 150);
  clock.add_launch(20, 2);
  clock.add_launch(10, 1);
  clock.add_kernel(1, 100);
  clock.add_launch(300, 3);
  clock.add_kernel(3, 310);
  clock.sort();
  EXPECT_EQ(clock.at(5), 5) << "before any";
  EXPECT_EQ(clock.at(10), 100);
  EXPECT_EQ(clock.at(19), 100);
  EXPECT_EQ(clock.at(25), 150);
  EXPECT_EQ(clock.at(200), 200) << "done before the host came there";
  EXPECT_EQ(clock.at(305), 310);
}

TEST(DeviceClock, WaitsForAllKernelsOfAGraphAndForStreamsBesideEachOther) {
  DeviceClock clock;
  clock.add_launch(10, 1);
  clock.add_kernel(1, 100);
  clock.add_kernel(1, 180);
  clock.add_launch(20, 2);
  clock.add_kernel(2, 120);  // on another stream
  clock.add_kernel(0, 999);  // of no launch that is known
  clock.sort();
  EXPECT_EQ(clock.at(10), 180);
  EXPECT_EQ(clock.at(20), 180);
}

}  // namespace
}  // namespace shardlens::trace::predict
