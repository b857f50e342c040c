// One setting as a program has it that PyTorch parallelises, for whoever changes it there. Any
// thread.
#pragma once

#include <string>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::frameworks {

// "DistributedDataParallel(…, bucket_cap_mb=4)". `are_wrapped`: its units, by
// FullyShardedDataParallel and not by fully_shard. "": PyTorch has no such setting.
std::string pytorch_change(const job::Knob& knob, const job::Settings& settings, bool are_wrapped);

}  // namespace shardlens::trace::frameworks
