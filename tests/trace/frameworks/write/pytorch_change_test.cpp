#include <gtest/gtest.h>

#include "tests/trace/frameworks/framework_jobs.h"
#include "trace/frameworks/write/framework_export.h"

namespace shardlens::trace::frameworks {
namespace {

std::string changed(const char* knob, const char* settings, bool are_wrapped = false) {
  return pytorch_change(*job::find_knob(knob), job_with(settings).settings, are_wrapped);
}

// 25 that is said makes a first bucket of 25, and not of 1.
TEST(PytorchChange, OfBucketsPlansTheSame) {
  EXPECT_EQ(changed("bucket_cap_mb", "bucket_cap_mb=4"),
            "DistributedDataParallel(…, bucket_cap_mb=4)");
  EXPECT_EQ(changed("first_bucket_mb", "bucket_cap_mb=4 first_bucket_mb=0.5"),
            "DistributedDataParallel(…, bucket_cap_mb_list=[0.5, 4])");
  EXPECT_EQ(changed("bucket_cap_mb", "bucket_cap_mb=25"),
            "DistributedDataParallel(…) without bucket_cap_mb");
  EXPECT_EQ(changed("communication_hook", "communication_hook=bf16_compress"),
            "model.register_comm_hook(None, default_hooks.bf16_compress_hook)");
}

TEST(PytorchChange, OfUnitsIsOfWhatShardsThem) {
  EXPECT_EQ(changed("sharding_strategy", "sharding_strategy=shard_grad_op"),
            "fully_shard(unit, …, reshard_after_forward=False)");
  EXPECT_EQ(changed("sharding_strategy", "sharding_strategy=hybrid_shard_zero2", true),
            "FullyShardedDataParallel(…, sharding_strategy=ShardingStrategy._HYBRID_SHARD_ZERO2)");
  EXPECT_EQ(
      changed("backward_prefetch", "sharding_strategy=full_shard backward_prefetch=post", true),
      "FullyShardedDataParallel(…, backward_prefetch=BackwardPrefetch.BACKWARD_POST)");
  EXPECT_EQ(changed("backward_prefetch", "sharding_strategy=full_shard backward_prefetch=none"), "")
      << "fully_shard has no such setting";
  EXPECT_EQ(changed("forward_prefetch", "sharding_strategy=full_shard forward_prefetch=true", true),
            "FullyShardedDataParallel(…, forward_prefetch=True)");
}

TEST(PytorchChange, OfMicroBatchesSaysWhichReduce) {
  EXPECT_EQ(changed("gradient_accumulation_steps", "gradient_accumulation_steps=4"),
            "4 times forward and backward per optimizer.step(), no_sync() around all but the last");
  EXPECT_EQ(changed("sync_each_batch", "gradient_accumulation_steps=4 sync_each_batch=true"),
            "4 times forward and backward per optimizer.step()");
  EXPECT_EQ(changed("simulate_link", "simulate_link=latency_us=50,gbit_per_s=1"), "");
}

}  // namespace
}  // namespace shardlens::trace::frameworks
