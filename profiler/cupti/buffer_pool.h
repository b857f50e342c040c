// The fixed set of buffers that CUPTI fills. request() and complete() run inside CUPTI's callbacks
// on the job's threads: they never block and never allocate. The rest is
// for one thread at a time, later the flush thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/queue/reserved_memory.h"

namespace shardlens::profiler::cupti {

class CuptiBufferPool {
 public:
  static constexpr std::size_t kBufferBytes = 1 << 20;
  // As many have their memory from the start: about what 100 ms fill, after which they are taken
  // back. The others get theirs when a burst of records needs them.
  static constexpr std::size_t kReadyBuffers = 8;

  explicit CuptiBufferPool(std::size_t buffers);
  CuptiBufferPool(const CuptiBufferPool&) = delete;
  CuptiBufferPool& operator=(const CuptiBufferPool&) = delete;

  // A zeroed buffer, or nullptr if all are in use: CUPTI then drops records, which is counted.
  std::uint8_t* request();
  // CUPTI is done with a buffer; its first `valid_bytes` hold records. False: not one of ours.
  bool complete(std::uint8_t* buffer, std::size_t valid_bytes);

  // Hands each completed buffer to `take(buffer, valid_bytes)`, oldest first, and frees it.
  template <typename Take>
  void drain(Take&& take) {
    for (Slot* slot : completed_slots()) {
      take(slot->memory, slot->valid_bytes);
      release(*slot);
    }
  }

  // Frees completed buffers, oldest first, up to one that `is_wanted(buffer, valid_bytes)`. False:
  // none was.
  template <typename IsWanted>
  bool drop_until(IsWanted&& is_wanted) {
    for (Slot* slot : completed_slots()) {
      if (is_wanted(slot->memory, slot->valid_bytes)) return true;
      release(*slot);
    }
    return false;
  }
  // How many wait for drain().
  std::size_t completed() { return completed_slots().size(); }

  // How often request() had nothing to give, since the last call.
  std::int64_t take_refused() { return refused_.exchange(0, std::memory_order_relaxed); }

 private:
  enum class Use : std::uint8_t { kFree, kFilling, kComplete };
  struct Slot {
    std::atomic<Use> use{Use::kFree};
    std::uint8_t* memory = nullptr;
    std::size_t valid_bytes = 0;
    std::uint64_t order = 0;
  };

  std::vector<Slot*> completed_slots();
  static void release(Slot& slot);

  const queue::ReservedMemory memory_;
  std::vector<Slot> slots_;
  std::atomic<std::uint64_t> completions_{0};
  std::atomic<std::int64_t> refused_{0};
};

// Buffers for a CUPTI that crashes when it is refused one, as those before CUDA 12.9 do: what it
// writes there is lost. The one place where CUPTI's callbacks allocate. Any thread.
class CuptiSpareBuffers {
 public:
  // Of CUDA 12.9, as Kineto tells them apart (kCuptiBufferRejectionMinVersion).
  static constexpr std::uint32_t kFirstVersionThatTakesNone = 27;
  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kBytes = CuptiBufferPool::kBufferBytes;

  // Zeroed. nullptr: so many are out that CUPTI no longer gives them back, or no memory.
  std::uint8_t* request();
  // Frees it. False: not one of these.
  bool complete(std::uint8_t* buffer);

 private:
  std::array<std::atomic<std::uint8_t*>, kMost> out_{};
};

}  // namespace shardlens::profiler::cupti
