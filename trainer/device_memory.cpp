#include "trainer/device_memory.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>

#include <algorithm>

#include "profiler/torch/torch_sources.h"

namespace shardlens::trainer {

namespace {

using trace::MemoryCategory;
using trace::MemorySample;

MemorySample sample_gpu(c10::DeviceIndex index, bool peak) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  MemorySample sample;
  const auto stats = allocator::getDeviceStats(index);
  const auto& allocated = stats.allocated_bytes[0];
  const auto& reserved = stats.reserved_bytes[0];
  sample.is_peak = peak;
  sample.bytes[static_cast<std::size_t>(MemoryCategory::kOther)] =
      peak ? allocated.peak : allocated.current;
  sample.reserved_bytes = peak ? reserved.peak : reserved.current;
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) {
    sample.device_total_bytes = static_cast<std::int64_t>(total);
    sample.device_used_bytes = static_cast<std::int64_t>(total - free);
    sample.bytes[static_cast<std::size_t>(MemoryCategory::kOutside)] =
        std::max<std::int64_t>(0, sample.device_used_bytes - reserved.current);
  }
  if (peak) allocator::resetPeakStats(index);
  return sample;
}

}  // namespace

profiler::MemorySource memory_source(torch::Device device) {
  if (!device.is_cuda()) return {profiler::sample_cpu_memory, profiler::take_cpu_memory_peak};
  const auto index = device.index();
  auto sample = [index](bool peak) {
    // The sampler's thread has no current device of its own.
    cudaSetDevice(index);
    return sample_gpu(index, peak);
  };
  return {[sample] { return sample(false); }, [sample] { return sample(true); }};
}

}  // namespace shardlens::trainer
