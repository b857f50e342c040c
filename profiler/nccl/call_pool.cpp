#include "profiler/nccl/call_pool.h"

#include <thread>

namespace shardlens::profiler::nccl {
namespace {

// A handle is the slot's number and how often the slot was used, so that an old one is recognised.
constexpr std::uint64_t kSlotBits = 12;
constexpr std::uint64_t kSlotMask = (1u << kSlotBits) - 1;
static_assert(NcclCallPool::kSlots == kSlotMask + 1);

// Never null and never the address of an object: the lowest bit is set.
void* to_handle(std::size_t slot, std::uint64_t uses) {
  return reinterpret_cast<void*>((uses << (kSlotBits + 1)) | (slot << 1) | 1);
}

}  // namespace

bool NcclCallPool::is_available(const Slot& slot, std::uint64_t state, std::int64_t now_ns) const {
  if ((state & kStateMask) == kFree) return true;
  return (state & kStateMask) == kUsed &&
         now_ns - slot.called_ns.load(std::memory_order_relaxed) > kForgottenAfterNs;
}

void* NcclCallPool::claim(const Call& call) {
  for (std::size_t probe = 0; probe < kProbes; ++probe) {
    const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed) % kSlots;
    Slot& slot = slots_[index];
    std::uint64_t state = slot.state.load(std::memory_order_relaxed);
    if (!is_available(slot, state, call.called_ns)) continue;
    const std::uint64_t uses = (state >> 2) + 1;
    if (!slot.state.compare_exchange_strong(state, (uses << 2) | kBusy, std::memory_order_acquire))
      continue;
    slot.call = call;
    slot.called_ns.store(call.called_ns, std::memory_order_relaxed);
    slot.state.store((uses << 2) | kUsed, std::memory_order_release);
    return to_handle(index, uses);
  }
  return nullptr;
}

NcclCallPool::Slot* NcclCallPool::hold(void* handle) {
  const auto value = reinterpret_cast<std::uint64_t>(handle);
  if ((value & 1) == 0) return nullptr;
  Slot& slot = slots_[(value >> 1) & kSlotMask];
  const std::uint64_t uses = value >> (kSlotBits + 1);
  while (true) {
    std::uint64_t state = (uses << 2) | kUsed;
    if (slot.state.compare_exchange_strong(state, (uses << 2) | kBusy, std::memory_order_acquire))
      return &slot;
    if (state != ((uses << 2) | kBusy)) return nullptr;
    std::this_thread::yield();
  }
}

void NcclCallPool::let_go(Slot& slot, std::uint64_t next) {
  const std::uint64_t busy = slot.state.load(std::memory_order_relaxed);
  slot.state.store((busy & ~kStateMask) | next, std::memory_order_release);
}

std::optional<NcclCallPool::Call> NcclCallPool::take(void* handle) {
  Slot* slot = hold(handle);
  if (slot == nullptr) return std::nullopt;
  const Call call = slot->call;
  let_go(*slot, kFree);
  return call;
}

std::optional<NcclCallPool::Call> NcclCallPool::tell(void* handle,
                                                     const queue::CollectiveLaunch& how) {
  Slot* slot = hold(handle);
  if (slot == nullptr) return std::nullopt;
  const bool was_told = slot->call.is_told;
  if (!was_told) {
    const std::uint64_t launch = slot->call.launch.launch;
    slot->call.launch = how;
    slot->call.launch.launch = launch;
    slot->call.is_told = true;
  }
  const Call call = slot->call;
  let_go(*slot, call.is_in_group ? kUsed : kFree);
  return was_told ? std::nullopt : std::optional(call);
}

std::optional<NcclCallPool::Call> NcclCallPool::leave_group(void* handle, std::uint64_t launch) {
  Slot* slot = hold(handle);
  if (slot == nullptr) return std::nullopt;
  slot->call.launch.launch = launch;
  slot->call.is_in_group = false;
  const Call call = slot->call;
  let_go(*slot, call.is_told ? kFree : kUsed);
  return call.is_told ? std::optional(call) : std::nullopt;
}

}  // namespace shardlens::profiler::nccl
