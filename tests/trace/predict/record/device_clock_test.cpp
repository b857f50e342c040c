#include "trace/predict/record/device_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace shardlens::trace::predict {
namespace {

constexpr int kLane = 7, kOther = 8;

TEST(DeviceClock, OfNoDeviceIsTheHosts) {
  DeviceClock clock;
  EXPECT_EQ(clock.times_of(kLane).at(42), 42);
  clock.add_launch(10, 1);
  EXPECT_EQ(clock.times_of(kLane).at(42), 42) << "a launch without its kernel tells nothing";
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
  const DeviceTimes times = clock.times_of(kLane);
  EXPECT_EQ(times.at(5), 5) << "before any";
  EXPECT_EQ(times.at(10), 100);
  EXPECT_EQ(times.at(19), 100);
  EXPECT_EQ(times.at(25), 150);
  EXPECT_EQ(times.at(200), 200) << "done before the host came there";
  EXPECT_EQ(times.at(305), 310);
}

TEST(DeviceClock, WaitsForAllKernelsOfAGraph) {
  DeviceClock clock;
  clock.add_launch(10, 1);
  clock.add_kernel(1, kLane, 180);
  clock.add_kernel(1, kLane, 100);
  clock.add_launch(20, 2);
  clock.add_kernel(2, kLane, 120);
  clock.add_kernel(0, kLane, 999);  // of no launch that is known
  const DeviceTimes times = clock.times_of(kLane);
  EXPECT_EQ(times.at(10), 180);
  EXPECT_EQ(times.at(20), 180);
}

// By chance, and the slow way: one after the other, for each moment.
TEST(DeviceClock, AgreesWithASearchThroughAllThatWasToldInAnyOrder) {
  std::mt19937_64 random(7);
  const auto any = [&](std::int64_t until) {
    return std::uniform_int_distribution<std::int64_t>(0, until)(random);
  };
  struct Told {
    std::int64_t host_ns, end_ns;
    std::uint64_t correlation;
    int lane;
  };
  for (int round = 0; round < 50; ++round) {
    DeviceClock clock;
    std::vector<Told> launches, kernels;
    for (std::int64_t i = 0, many = any(40); i < many; ++i) {
      const auto correlation = static_cast<std::uint64_t>(any(20));
      launches.push_back(
          {.host_ns = any(1000), .end_ns = 0, .correlation = correlation, .lane = 0});
      clock.add_launch(launches.back().host_ns, correlation);
    }
    for (std::int64_t i = 0, many = any(40); i < many; ++i) {
      const auto correlation = static_cast<std::uint64_t>(any(20));
      const int lane = any(1) == 0 ? kLane : kOther;
      kernels.push_back(
          {.host_ns = 0, .end_ns = any(2000), .correlation = correlation, .lane = lane});
      clock.add_kernel(correlation, lane, kernels.back().end_ns);
    }
    const DeviceTimes times = clock.times_of(kLane);
    for (std::int64_t host_ns = 0; host_ns <= 1000; host_ns += 13) {
      std::int64_t expected_ns = host_ns;
      for (const Told& launch : launches) {
        if (launch.host_ns > host_ns || launch.correlation == 0) continue;
        for (const Told& kernel : kernels) {
          const bool is_its = kernel.correlation == launch.correlation && kernel.lane == kLane;
          if (is_its) expected_ns = std::max(expected_ns, kernel.end_ns);
        }
      }
      ASSERT_EQ(times.at(host_ns), expected_ns) << "round " << round << ", moment " << host_ns;
    }
  }
}

// What was launched on another stream, as copies for a gather are, holds up nobody here.
TEST(DeviceClock, IsOfOneStream) {
  DeviceClock clock;
  clock.add_launch(10, 1);
  clock.add_kernel(1, kLane, 100);
  clock.add_launch(20, 2);
  clock.add_kernel(2, kOther, 500);
  EXPECT_EQ(clock.times_of(kLane).at(30), 100);
  EXPECT_EQ(clock.times_of(kOther).at(15), 15);
  EXPECT_EQ(clock.times_of(kOther).at(30), 500);
}

}  // namespace
}  // namespace shardlens::trace::predict
