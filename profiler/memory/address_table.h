// Live allocations by address: open addressing with linear probing, of a fixed capacity. One thread
// at a time; allocates only when it is made.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::profiler::memory {

struct LiveAllocation {
  std::uint64_t address = 0;  // 0: an empty slot
  std::int64_t bytes = 0;
  std::int64_t start_ns = 0;
  trace::model::StringId name = 0;
  trace::model::MemoryCategory category = trace::model::MemoryCategory::kOther;
};

class AddressTable {
 public:
  // At least so many at once; a power of two of slots, an eighth of them always empty.
  explicit AddressTable(std::size_t capacity)
      : slots_(std::bit_ceil(capacity + capacity / 4 + 8)),
        mask_(slots_.size() - 1),
        shift_(64 - std::countr_zero(slots_.size())) {}

  std::size_t size() const { return size_; }

  // False: there is no room. An address that is there already is overwritten: its end was missed.
  bool insert(const LiveAllocation& allocation) {
    std::size_t at = home_of(allocation.address);
    while (slots_[at].address != 0 && slots_[at].address != allocation.address) {
      at = (at + 1) & mask_;
    }
    if (slots_[at].address == 0) {
      if (size_ >= slots_.size() - slots_.size() / 8) return false;
      ++size_;
    }
    slots_[at] = allocation;
    return true;
  }

  LiveAllocation* find(std::uint64_t address) {
    if (address == 0) return nullptr;
    for (std::size_t at = home_of(address); slots_[at].address != 0; at = (at + 1) & mask_) {
      if (slots_[at].address == address) return &slots_[at];
    }
    return nullptr;
  }

  // `found` as find() returned it; no pointer into the table is valid afterwards. What lies behind
  // moves up, so that no search meets a grave.
  void erase(LiveAllocation* found) {
    auto hole = static_cast<std::size_t>(found - slots_.data());
    for (std::size_t at = (hole + 1) & mask_; slots_[at].address != 0; at = (at + 1) & mask_) {
      const std::size_t home = home_of(slots_[at].address);
      if (((at - home) & mask_) < ((at - hole) & mask_)) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = {};
    --size_;
  }

  template <typename Visit>
  void visit(Visit&& visit) const {
    for (const LiveAllocation& slot : slots_) {
      if (slot.address != 0) visit(slot);
    }
  }

 private:
  // Fibonacci hashing: addresses are multiples of 64 or more, their high bits nearly constant.
  std::size_t home_of(std::uint64_t address) const {
    return (address * 0x9e37'79b9'7f4a'7c15ULL) >> shift_;
  }

  std::vector<LiveAllocation> slots_;
  std::size_t mask_;
  int shift_;
  std::size_t size_ = 0;
};

}  // namespace shardlens::profiler::memory
