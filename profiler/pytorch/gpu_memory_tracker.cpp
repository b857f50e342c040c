#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "profiler/memory/allocation_tracker.h"
#include "profiler/pytorch/torch_sources.h"

namespace shardlens::profiler::pytorch {
namespace {

namespace caching = c10::cuda::CUDACachingAllocator;

// The allocator calls a tracker for as long as the process lives.
std::atomic<memory::AllocationTracker*> active{nullptr};

// Called with the allocator's lock held: no call of LibTorch or CUDA, nothing that waits.
void take_in(memory::AllocationTracker& tracker, int device, const caching::TraceEntry& entry) {
  using Action = caching::TraceEntry::Action;
  if (entry.device_ != device) return;
  const auto bytes = static_cast<std::int64_t>(entry.size_);  // as requested
  switch (entry.action_) {
    case Action::ALLOC:
      return tracker.allocated(
          {entry.addr_, bytes, 0, OperatorObserver::allocating_operator(), memory::category_now()},
          /*is_forgotten=*/true);
    case Action::FREE_REQUESTED:  // kernels of other streams may still use it
    case Action::SNAPSHOT:
      return;
    case Action::FREE_COMPLETED:
      return tracker.freed({entry.addr_, bytes});
    case Action::SEGMENT_ALLOC:
    case Action::SEGMENT_MAP:
      return tracker.add_reserved(bytes);
    case Action::SEGMENT_FREE:
    case Action::SEGMENT_UNMAP:
      return tracker.add_reserved(-bytes);
    case Action::OOM:
      return tracker.note_shortage(bytes);
  }
}

}  // namespace

memory::AllocationTracker* gpu_allocations() { return active.load(std::memory_order_acquire); }

trace::base::Result<void> install_gpu_memory_tracker(int device) {
  if (gpu_allocations() != nullptr) return {};
  static memory::AllocationTracker& tracker =
      *new memory::AllocationTracker;  // never destroyed, as it is called
  try {
    const auto stats = caching::getDeviceStats(static_cast<c10::DeviceIndex>(device));
    tracker.set_reserved_bytes(stats.reserved_bytes[0].current);
    // Of what is there already nothing more is known.
    if (stats.requested_bytes[0].current > 0)
      tracker.allocated({0, stats.requested_bytes[0].current});
    tracker.keep_addresses(true);
    caching::attachAllocatorTraceTracker(
        [device](const caching::TraceEntry& entry) { take_in(tracker, device, entry); });
  } catch (const c10::Error& refusal) {
    return trace::base::fail(
        trace::base::ErrorKind::kFailed,
        "GPU memory is recorded as one sum, not by category: LibTorch's allocator "
        "lets nobody listen. Leave PYTORCH_ALLOC_CONF at its default. (" +
            std::string(refusal.what_without_backtrace()) + ")");
  }
  active.store(&tracker, std::memory_order_release);
  return {};
}

}  // namespace shardlens::profiler::pytorch
