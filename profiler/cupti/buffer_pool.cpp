#include "profiler/cupti/buffer_pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace shardlens::profiler::cupti {

CuptiBufferPool::CuptiBufferPool(std::size_t buffers)
    : memory_(buffers * kBufferBytes), slots_(buffers) {
  auto* memory = static_cast<std::uint8_t*>(memory_.data());
  for (std::size_t i = 0; i < buffers; ++i) slots_[i].memory = memory + i * kBufferBytes;
  // The thread that launches meets no page fault there.
  memory_.touch(kReadyBuffers * kBufferBytes);
}

// The first that is free, so that those whose memory is there are used most.
std::uint8_t* CuptiBufferPool::request() {
  for (Slot& slot : slots_) {
    Use expected = Use::kFree;
    if (slot.use.compare_exchange_strong(expected, Use::kFilling, std::memory_order_acquire))
      return slot.memory;
  }
  refused_.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

bool CuptiBufferPool::complete(std::uint8_t* buffer, std::size_t valid_bytes) {
  const auto found = std::ranges::find(slots_, buffer, &Slot::memory);
  if (found == slots_.end() || found->use.load(std::memory_order_relaxed) != Use::kFilling)
    return false;
  found->valid_bytes = std::min(valid_bytes, kBufferBytes);
  found->order = completions_.fetch_add(1, std::memory_order_relaxed);
  found->use.store(Use::kComplete, std::memory_order_release);
  return true;
}

std::vector<CuptiBufferPool::Slot*> CuptiBufferPool::completed_slots() {
  std::vector<Slot*> completed;
  for (Slot& slot : slots_)
    if (slot.use.load(std::memory_order_acquire) == Use::kComplete) completed.push_back(&slot);
  std::ranges::sort(completed, {}, &Slot::order);
  return completed;
}

// CUPTI wants zeroed buffers; only what was written needs it.
void CuptiBufferPool::release(Slot& slot) {
  std::memset(slot.memory, 0, slot.valid_bytes);
  slot.valid_bytes = 0;
  slot.use.store(Use::kFree, std::memory_order_release);
}

std::uint8_t* CuptiSpareBuffers::request() {
  auto* buffer = static_cast<std::uint8_t*>(std::calloc(1, kBytes));
  if (buffer == nullptr) return nullptr;
  for (auto& place : out_) {
    std::uint8_t* none = nullptr;
    if (place.compare_exchange_strong(none, buffer)) return buffer;
  }
  std::free(buffer);
  return nullptr;
}

bool CuptiSpareBuffers::complete(std::uint8_t* buffer) {
  for (auto& place : out_) {
    std::uint8_t* found = buffer;
    if (!place.compare_exchange_strong(found, nullptr)) continue;
    std::free(buffer);
    return true;
  }
  return false;
}

}  // namespace shardlens::profiler::cupti
