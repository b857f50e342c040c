// A job's settings as Accelerate's configuration file. Any thread.
#pragma once

#include "trace/frameworks/framework_file.h"

namespace shardlens::trace::frameworks {

// YAML as `accelerate config` writes it, with the keys of Accelerate 1.15: MULTI_GPU or MULTI_CPU
// for ddp and no_shard, FSDP of version 2 for strategies with sharded units, DEEPSPEED of stage 1
// for zero1. What is left out stands in comments at its top, too.
FrameworkFile accelerate_config(const TunedJob& job);

}  // namespace shardlens::trace::frameworks
