#include "trainer/comm/collective_description.h"

#include <gtest/gtest.h>

namespace shardlens::trainer::comm {
namespace {

using trace::model::CollectiveFunction;

CollectiveDescription bucket_reduction() {
  CollectiveDescription description;
  description.sequence = 57;
  description.function = description.executed = CollectiveFunction::kAllReduce;
  description.bytes = 1'000'000;
  description.tag = {trace::model::TagKind::kBucket, 3, ""};
  return description;
}

TEST(CollectiveDescription, SaysWhichCollectiveItIs) {
  EXPECT_EQ(to_text(bucket_reduction()),
            "collective 57 (all_reduce of 1000000 bytes float32 for bucket 3)");
}

TEST(CollectiveDescription, DiffersInItsFingerprintWhateverDiffers) {
  const auto one = fingerprint(bucket_reduction());
  EXPECT_EQ(one, fingerprint(bucket_reduction()));
  auto other = bucket_reduction();
  other.bytes += 4;
  EXPECT_NE(one, fingerprint(other));
  other = bucket_reduction();
  other.tag.index = 4;
  EXPECT_NE(one, fingerprint(other));
  other = bucket_reduction();
  other.sequence = 58;
  EXPECT_NE(one, fingerprint(other));
  other = bucket_reduction();
  other.type = torch::kInt32;
  EXPECT_NE(one, fingerprint(other));
}

TEST(LinkTime, IsLatencyPlusTheTrafficOfTheFunctionOverTheBandwidth) {
  const trace::job::SimulatedLink link{50, 8};  // 8 Gbit/s = 1 byte per ns
  auto call = bucket_reduction();
  EXPECT_EQ(transfer_time(link, call, 2).count(), 1'000'000);
  EXPECT_EQ(transfer_time(link, call, 4).count(), 1'500'000);
  call.function = CollectiveFunction::kAllGather;
  EXPECT_EQ(transfer_time(link, call, 4).count(), 750'000);
  call.function = CollectiveFunction::kBroadcast;
  EXPECT_EQ(transfer_time(link, call, 4).count(), 1'000'000);
}

TEST(LinkTime, IsNothingForASingleRank) {
  EXPECT_EQ(transfer_time({50, 8}, bucket_reduction(), 1).count(), 0);
  EXPECT_EQ(latency({50, 8}, 2).count(), 50'000);
  EXPECT_EQ(latency({50, 8}, 1).count(), 0);
}

}  // namespace
}  // namespace shardlens::trainer::comm
