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
    for (std::int64_t i = 0, many = any(80); i < many; ++i) {
      const auto correlation = static_cast<std::uint64_t>(any(20));
      if (any(1) == 0) {
        launches.push_back(
            {.host_ns = any(1000), .end_ns = 0, .correlation = correlation, .lane = 0});
        clock.add_launch(launches.back().host_ns, correlation);
        continue;
      }
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

}  // namespace
}  // namespace shardlens::trace::predict
