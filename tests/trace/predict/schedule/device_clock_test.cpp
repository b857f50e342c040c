#include "trace/predict/schedule/device_clock.h"

#include <gtest/gtest.h>

namespace shardlens::trace::predict {
namespace {

constexpr int kLane = 7, kOther = 8;

TEST(DeviceClock, OfNoDeviceIsTheHosts) {
  DeviceClock clock;
  clock.sort(kLane);
  EXPECT_FALSE(clock.is_used());
  EXPECT_EQ(clock.at(42), 42);
  clock.add_launch(10, 1);
  clock.sort(kLane);
  EXPECT_EQ(clock.at(42), 42) << "a launch without its kernel tells nothing";
}

// Launched at 10 and 20, done at 100 and 150; the third is launched when the device is idle.
TEST(DeviceClock, ComesToAMomentWithTheLastKernelBeforeIt) {
  DeviceClock clock;
  clock.add_kernel(2, kLane, 150);
  clock.add_launch(20, 2);
  clock.add_launch(10, 1);
  clock.add_kernel(1, kLane, 100);
  clock.add_launch(300, 3);
  clock.add_kernel(3, kLane, 310);
  clock.sort(kLane);
  EXPECT_EQ(clock.at(5), 5) << "before any";
  EXPECT_EQ(clock.at(10), 100);
  EXPECT_EQ(clock.at(19), 100);
  EXPECT_EQ(clock.at(25), 150);
  EXPECT_EQ(clock.at(200), 200) << "done before the host came there";
  EXPECT_EQ(clock.at(305), 310);
}

TEST(DeviceClock, WaitsForAllKernelsOfAGraph) {
  DeviceClock clock;
  clock.add_launch(10, 1);
  clock.add_kernel(1, kLane, 180);
  clock.add_kernel(1, kLane, 100);
  clock.add_launch(20, 2);
  clock.add_kernel(2, kLane, 120);
  clock.add_kernel(0, kLane, 999);  // of no launch that is known
  clock.sort(kLane);
  EXPECT_EQ(clock.at(10), 180);
  EXPECT_EQ(clock.at(20), 180);
}

// What was launched on another stream, as copies for a gather are, holds up nobody here.
TEST(DeviceClock, IsOfOneStream) {
  DeviceClock clock;
  clock.add_launch(10, 1);
  clock.add_kernel(1, kLane, 100);
  clock.add_launch(20, 2);
  clock.add_kernel(2, kOther, 500);
  clock.sort(kLane);
  EXPECT_EQ(clock.at(30), 100);
  clock.sort(kOther);
  EXPECT_EQ(clock.at(15), 15);
  EXPECT_EQ(clock.at(30), 500);
}

}  // namespace
}  // namespace shardlens::trace::predict
