#include "trainer/rank/rank_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace shardlens::trainer::rank {
namespace {

using trace::job::DeviceChoice;

trace::job::Settings on(DeviceChoice device) {
  trace::job::Settings settings;
  settings.device = device;
  return settings;
}

RankPlace place_of(int local_rank, int local_ranks) {
  RankPlace place;
  place.local_rank = local_rank;
  place.local_world_size = local_ranks;
  return place;
}

TEST(RankDevice, AutoIsAGpuWhereThereAreAnyAndNoLinkIsSimulated) {
  auto settings = on(DeviceChoice::kAuto);
  EXPECT_EQ(choose_device(settings, place_of(1, 2), 2)->device, c10::Device(c10::kCUDA, 1));
  EXPECT_EQ(choose_device(settings, place_of(1, 2), 0)->device, c10::Device(c10::kCPU));
  settings.simulate_link = "latency_us=50,gbit_per_s=1";
  EXPECT_EQ(choose_device(settings, place_of(1, 2), 2)->device, c10::Device(c10::kCPU));
}

// As our launcher does: whoever is not told would take a job on the CPU for one on GPUs.
TEST(RankDevice, MoreRanksThanGpusAreRefusedUnlessTheyMayShare) {
  for (const DeviceChoice device : {DeviceChoice::kAuto, DeviceChoice::kCuda}) {
    auto settings = on(device);
    const auto refused = choose_device(settings, place_of(3, 4), 2);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, testing::HasSubstr("this one sees 2 GPUs"));
    EXPECT_THAT(refused.error().message, testing::HasSubstr("CUDA_VISIBLE_DEVICES"));
    EXPECT_THAT(refused.error().message, testing::HasSubstr("set oversubscribe"));
    settings.oversubscribe = true;
    const auto shared = choose_device(settings, place_of(3, 4), 2);
    ASSERT_TRUE(shared);
    EXPECT_EQ(shared->device, c10::Device(c10::kCUDA, 1));
    EXPECT_TRUE(shared->is_shared);
  }
}

}  // namespace
}  // namespace shardlens::trainer::rank
