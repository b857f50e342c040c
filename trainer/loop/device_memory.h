// What memory is asked of on each kind of device. Any thread.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>

#include "profiler/memory/memory_sampler.h"
#include "profiler/pytorch/torch_sources.h"

namespace shardlens::trainer::loop {

// By category; on a GPU without a tracker (install_gpu_memory_tracker) the caching allocator's
// total. With what else the device holds.
profiler::memory::MemorySource memory_source(torch::Device device);

// Of the device's allocator; null where nothing listens to it.
profiler::memory::AllocationTracker* allocation_tracker(torch::Device device);

struct FailedAllocation {
  std::int64_t asked_bytes = 0;
  trace::model::MemorySample held;
};
// What was held when the last request failed; none: no hook saw it fail.
std::optional<FailedAllocation> last_failed_allocation(torch::Device device);

}  // namespace shardlens::trainer::loop
