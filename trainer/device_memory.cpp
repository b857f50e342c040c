#include "trainer/device_memory.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>

#include <algorithm>

namespace shardlens::trainer {

namespace {

using trace::MemoryCategory;
using trace::MemorySample;

// Adds what the device says now. `reserved` is what the caching allocator holds now, too.
void add_device(MemorySample& sample, std::int64_t reserved) {
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) return;
  sample.device_total_bytes = static_cast<std::int64_t>(total);
  sample.device_used_bytes = static_cast<std::int64_t>(total - free);
  sample.bytes[static_cast<std::size_t>(MemoryCategory::kOutside)] =
      std::max<std::int64_t>(0, sample.device_used_bytes - reserved);
}

// From the allocator's own statistics, which know neither category nor time.
MemorySample sample_sum(c10::DeviceIndex index, bool peak) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  MemorySample sample;
  const auto stats = allocator::getDeviceStats(index);
  const auto& allocated = stats.allocated_bytes[0];
  const auto& reserved = stats.reserved_bytes[0];
  sample.bytes[static_cast<std::size_t>(MemoryCategory::kOther)] =
      peak ? allocated.peak : allocated.current;
  sample.reserved_bytes = peak ? reserved.peak : reserved.current;
  add_device(sample, reserved.current);
  if (peak) allocator::resetPeakStats(index);
  return sample;
}

MemorySample sample_categories(profiler::AllocationTracker& tracker, bool peak) {
  MemorySample sample;
  if (peak) {
    const auto highest = tracker.take_peak();
    sample.bytes = highest.bytes.bytes;
    sample.highest = highest.bytes.highest;
    sample.time_ns = highest.bytes.time_ns;
    sample.reserved_bytes = highest.reserved_bytes;
  } else {
    sample.bytes = tracker.bytes().current();
    sample.reserved_bytes = tracker.reserved_bytes();
  }
  add_device(sample, tracker.reserved_bytes());
  return sample;
}

}  // namespace

profiler::MemorySource memory_source(torch::Device device) {
  if (!device.is_cuda()) return {profiler::sample_cpu_memory, profiler::take_cpu_memory_peak};
  const auto index = device.index();
  auto sample = [index](bool peak) {
    // The sampler's thread has no current device of its own.
    cudaSetDevice(index);
    auto* tracker = profiler::gpu_allocations();
    return tracker != nullptr ? sample_categories(*tracker, peak) : sample_sum(index, peak);
  };
  return {[sample] { return sample(false); }, [sample] { return sample(true); }};
}

profiler::AllocationTracker* allocation_tracker(torch::Device device) {
  return device.is_cuda() ? profiler::gpu_allocations() : &profiler::cpu_allocations();
}

std::optional<profiler::FailedAllocation> last_failed_allocation(torch::Device device) {
  if (device.is_cpu()) return profiler::last_failed_cpu_allocation();
  auto* tracker = profiler::gpu_allocations();
  const auto shortage = tracker != nullptr ? tracker->last_shortage() : std::nullopt;
  if (!shortage) return std::nullopt;
  MemorySample held;
  held.bytes = shortage->held;
  held.reserved_bytes = shortage->reserved_bytes;
  add_device(held, tracker->reserved_bytes());
  return profiler::FailedAllocation{shortage->asked_bytes, held};
}

}  // namespace shardlens::trainer
