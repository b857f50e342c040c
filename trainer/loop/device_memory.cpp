#include "trainer/loop/device_memory.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>

namespace shardlens::trainer::loop {

namespace {

using trace::model::MemoryCategory;
using trace::model::MemorySample;

// What else a device holds. The driver is asked by one thread, now and then, since that may wait
// for its locks; any thread may have the last answer.
class DeviceUse {
 public:
  explicit DeviceUse(c10::DeviceIndex index) : index_(index) {}

  // `reserved`: what the caching allocator holds.
  void ask(std::int64_t reserved) {
    const auto now = std::chrono::steady_clock::now();
    if (total_ >= 0 && now - asked_ < kInterval) return;
    asked_ = now;
    // The sampler's thread has no current device of its own.
    cudaSetDevice(index_);
    std::size_t free = 0, total = 0;
    if (cudaMemGetInfo(&free, &total) != cudaSuccess) return;
    outside_ = std::max<std::int64_t>(0, static_cast<std::int64_t>(total - free) - reserved);
    total_ = static_cast<std::int64_t>(total);
  }

  void add_to(MemorySample& sample) const {
    if (total_ < 0) return;
    sample.device_total_bytes = total_;
    sample.device_used_bytes = outside_ + sample.reserved_bytes;
    sample.bytes[static_cast<std::size_t>(MemoryCategory::kOutside)] = outside_;
  }

 private:
  static constexpr std::chrono::milliseconds kInterval{250};

  const c10::DeviceIndex index_;
  std::chrono::steady_clock::time_point asked_;  // of the asking thread
  std::atomic<std::int64_t> total_{-1}, outside_{0};
};

// From the allocator's own statistics, which know neither category nor time.
MemorySample sample_sum(c10::DeviceIndex index, bool peak) {
  namespace allocator = c10::cuda::CUDACachingAllocator;
  MemorySample sample;
  sample.untold = MemorySample::kUntoldPurposes;
  const auto stats = allocator::getDeviceStats(index);
  const auto& allocated = stats.allocated_bytes[0];
  const auto& reserved = stats.reserved_bytes[0];
  sample.bytes[static_cast<std::size_t>(MemoryCategory::kOther)] =
      peak ? allocated.peak : allocated.current;
  sample.reserved_bytes = peak ? reserved.peak : reserved.current;
  if (peak) allocator::resetPeakStats(index);
  return sample;
}

MemorySample sample_categories(profiler::memory::AllocationTracker& tracker, bool peak) {
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
  return sample;
}

}  // namespace

profiler::memory::MemorySource memory_source(torch::Device device) {
  if (!device.is_cuda())
    return {profiler::pytorch::sample_cpu_memory, profiler::pytorch::take_cpu_memory_peak,
            profiler::pytorch::cpu_memory_counters};
  const auto index = device.index();
  const auto use = std::make_shared<DeviceUse>(index);
  const auto sample = [index](bool peak) {
    auto* tracker = profiler::pytorch::gpu_allocations();
    return tracker != nullptr ? sample_categories(*tracker, peak) : sample_sum(index, peak);
  };
  const std::function<MemorySample()> counters = [use] {
    MemorySample now = sample_categories(*profiler::pytorch::gpu_allocations(), /*peak=*/false);
    use->add_to(now);
    return now;
  };
  return {[sample, use] {
            MemorySample now = sample(false);
            use->ask(now.reserved_bytes);
            use->add_to(now);
            return now;
          },
          [sample, use] {
            MemorySample peak = sample(true);
            use->add_to(peak);
            return peak;
          },
          profiler::pytorch::gpu_allocations() == nullptr ? nullptr : counters};
}

profiler::memory::AllocationTracker* allocation_tracker(torch::Device device) {
  return device.is_cuda() ? profiler::pytorch::gpu_allocations()
                          : &profiler::pytorch::cpu_allocations();
}

std::optional<FailedAllocation> last_failed_allocation(torch::Device device) {
  const auto* tracker = allocation_tracker(device);
  const auto shortage = tracker != nullptr ? tracker->last_shortage() : std::nullopt;
  if (!shortage) return std::nullopt;
  MemorySample held;
  held.bytes = shortage->held;
  held.reserved_bytes = shortage->reserved_bytes;
  if (device.is_cuda()) {
    DeviceUse use(device.index());
    use.ask(held.reserved_bytes);
    use.add_to(held);
  }
  return FailedAllocation{shortage->asked_bytes, held};
}

}  // namespace shardlens::trainer::loop
