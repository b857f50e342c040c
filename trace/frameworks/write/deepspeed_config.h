// A job's settings as DeepSpeed's ds_config.json. Any thread.
#pragma once

#include <cstdint>

#include "trace/frameworks/framework_file.h"

namespace shardlens::trace::frameworks {

// Keys, units and defaults are those of DeepSpeed 0.19.8 (runtime/config.py,
// runtime/zero/config.py, runtime/lr_schedules.py). ZeRO's buckets count elements, whose gradients
// have 4 bytes here.
inline constexpr std::int64_t kDeepSpeedBucketElements = 500'000'000;  // stage 0's, others' default
inline constexpr std::int64_t kDeepSpeedPrefetchElements = 50'000'000;  // stage 3's default
inline constexpr double kGradientElementsPerMiB = 1048576.0 / 4;

// The stages: ddp and no_shard 0, zero1 1, shard_grad_op and hybrid_shard_zero2 2, full_shard and
// hybrid_shard 3, the latter with ZeRO++'s secondary partition (hpZ) for its groups.
FrameworkFile deepspeed_config(const TunedJob& job);

}  // namespace shardlens::trace::frameworks
