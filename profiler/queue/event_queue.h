// A bounded queue from one producing to one consuming thread. Pushing takes no lock, calls no
// allocator and never waits for the consumer; in the first round it may meet a page fault, in which
// the kernel gives the memory. What finds no room is counted. push() is the producer's, the rest
// the consumer's.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "profiler/queue/reserved_memory.h"

namespace shardlens::profiler::queue {

template <typename T>
class EventQueue {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // The capacity is rounded up to a power of two. Memory comes as it is gone round for the first
  // time: most threads never do, and a busy one meets some hundred page faults, once.
  explicit EventQueue(std::size_t capacity)
      : mask_(std::bit_ceil(capacity) - 1),
        memory_((mask_ + 1) * sizeof(T)),
        slots_(static_cast<T*>(memory_.data())) {}
  EventQueue(const EventQueue&) = delete;
  EventQueue& operator=(const EventQueue&) = delete;

  std::size_t capacity() const { return mask_ + 1; }

  // False: the queue was full and the value is counted as lost.
  bool push(const T& value) {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_seen_ > mask_) {
      head_seen_ = head_.load(std::memory_order_acquire);
      if (tail - head_seen_ > mask_) {
        lost_.fetch_add(1, std::memory_order_relaxed);
        return false;
      }
    }
    slots_[tail & mask_] = value;
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  // How many push() takes now; the producer's.
  std::size_t room() const {
    return capacity() - static_cast<std::size_t>(tail_.load(std::memory_order_relaxed) -
                                                 head_.load(std::memory_order_acquire));
  }

  // How many drain() would hand over now.
  std::size_t size() const {
    return static_cast<std::size_t>(tail_.load(std::memory_order_acquire) -
                                    head_.load(std::memory_order_relaxed));
  }

  // Hands everything that was pushed before the call to `take`, oldest first; returns how many.
  template <typename Take>
  std::size_t drain(Take&& take) {
    std::uint64_t head = head_.load(std::memory_order_relaxed);
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);
    const auto count = static_cast<std::size_t>(tail - head);
    while (head != tail) {
      take(slots_[head & mask_]);
      // Room is given back in parts, so that a long drain does not keep the producer out.
      if ((++head & 0xff) == 0) head_.store(head, std::memory_order_release);
    }
    head_.store(head, std::memory_order_release);
    return count;
  }

  // Losses since the last call.
  std::int64_t take_lost() { return lost_.exchange(0, std::memory_order_relaxed); }

 private:
  // Destructive interference: producer and consumer write on different cache lines.
  static constexpr std::size_t kCacheLine = 64;

  const std::uint64_t mask_;
  const ReservedMemory memory_;
  T* const slots_;
  alignas(kCacheLine) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t head_seen_ = 0;  // the producer's copy of head_
  std::atomic<std::int64_t> lost_{0};
  alignas(kCacheLine) std::atomic<std::uint64_t> head_{0};
};

}  // namespace shardlens::profiler::queue
