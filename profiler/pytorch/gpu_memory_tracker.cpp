#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <optional>
#include <string>

#include "profiler/memory/allocation_tracker.h"
#include "profiler/pytorch/torch_sources.h"

namespace shardlens::profiler::pytorch {
namespace {

namespace caching = c10::cuda::CUDACachingAllocator;

// The allocator calls a tracker for as long as the process lives.
std::atomic<memory::AllocationTracker*> active{nullptr};

std::optional<memory::AllocatorAction> action_of(caching::TraceEntry::Action action) {
  using Theirs = caching::TraceEntry::Action;
  switch (action) {
    case Theirs::ALLOC:
      return memory::AllocatorAction::kAllocated;
    case Theirs::FREE_REQUESTED:
      return memory::AllocatorAction::kFreeRequested;
    case Theirs::FREE_COMPLETED:
      return memory::AllocatorAction::kFreeCompleted;
    case Theirs::SEGMENT_ALLOC:
    case Theirs::SEGMENT_MAP:
      return memory::AllocatorAction::kReserved;
    case Theirs::SEGMENT_FREE:
    case Theirs::SEGMENT_UNMAP:
      return memory::AllocatorAction::kReturned;
    case Theirs::OOM:
      return memory::AllocatorAction::kOutOfMemory;
    case Theirs::SNAPSHOT:
      return std::nullopt;
  }
  return std::nullopt;
}

// Called with the allocator's lock held: no call of LibTorch or CUDA, nothing that waits.
void take_in(memory::AllocationTracker& tracker, int device, const caching::TraceEntry& theirs) {
  if (theirs.device_ != device) return;
  const auto action = action_of(theirs.action_);
  if (!action) return;
  memory::AllocatorEntry entry;
  entry.action = *action;
  entry.address = theirs.addr_;
  entry.bytes = static_cast<std::int64_t>(theirs.size_);
  if (entry.action == memory::AllocatorAction::kAllocated) {
    entry.category = memory::category_now();
    entry.name = OperatorObserver::allocating_operator();
  }
  tracker.take_in(entry);
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
