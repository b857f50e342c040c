// What the memory sampler asks on each kind of device. Any thread.
#pragma once

#include <torch/torch.h>

#include "profiler/memory_sampler.h"

namespace shardlens::trainer {

// On a CPU by category; on a GPU the caching allocator's total, and what else the device holds.
profiler::MemorySource memory_source(torch::Device device);

}  // namespace shardlens::trainer
