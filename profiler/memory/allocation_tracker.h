// The live allocations of one device: bytes by category with their peaks, the state when memory ran
// out, and, of recorded steps, the life of every allocation. Knows no allocator: hooks feed it. Any
// thread; a lock is held for tens of nanoseconds (in end_record() for one look at every slot), and
// nothing is allocated.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "profiler/memory/address_table.h"
#include "profiler/memory/memory_category.h"
#include "trace/model/events.h"

namespace shardlens::profiler::memory {

// What was held when a request could not be met: later, once the exception has left the functions
// that held it, most of it is gone.
struct MemoryShortage {
  std::int64_t asked_bytes = 0;
  CategoryBytes::Composition held{};
  std::int64_t reserved_bytes = 0;
};

class AllocationTracker {
 public:
  // Live allocations that are told apart; of the others only the bytes are known.
  static constexpr std::size_t kCapacity = std::size_t{1} << 16;
  // Of one recorded step. Two of these are held, as address space until a step fills them.
  static constexpr std::size_t kRecordCapacity = std::size_t{1} << 17;

  explicit AllocationTracker(std::size_t capacity = kCapacity,
                             std::size_t record_capacity = kRecordCapacity);
  AllocationTracker(const AllocationTracker&) = delete;
  AllocationTracker& operator=(const AllocationTracker&) = delete;

  // While off, as at first, only bytes are counted, which needs no lock. What is alive when it is
  // turned on is not told apart. Takes and gives back the table's memory.
  void keep_addresses(bool keep);

  // Its start is filled in. `is_forgotten`: freed() will not be told its category, so that what is
  // not in the table counts as kOther.
  void allocated(const LiveAllocation& allocation, bool is_forgotten = false);
  // `known` is what the caller knows of it, for an address that is not kept.
  void freed(const LiveAllocation& known);
  void moved(std::uint64_t address, trace::model::MemoryCategory from,
             trace::model::MemoryCategory to, std::int64_t bytes);
  // Where the caller does not know what it was.
  void moved(std::uint64_t address, trace::model::MemoryCategory to);
  // What the allocator took from the driver; negative: gave back.
  void add_reserved(std::int64_t bytes) { reserved_.fetch_add(bytes, std::memory_order_relaxed); }
  void note_shortage(std::int64_t asked_bytes);

  const CategoryBytes& bytes() const { return bytes_; }
  std::int64_t reserved_bytes() const { return reserved_.load(std::memory_order_relaxed); }
  void set_reserved_bytes(std::int64_t bytes) { reserved_.store(bytes); }
  struct Peak {
    CategoryBytes::Peak bytes;
    std::int64_t reserved_bytes = 0;  // when the total was highest
  };
  Peak take_peak();  // since the last call
  std::optional<MemoryShortage> last_shortage() const;

  // ---- the training thread: a step is recorded from begin to end, with what was alive at its end.
  // False: two records wait to be taken, or no addresses are kept.
  bool begin_record();
  // What ended before `step_start_ns` is not of the step. Returns how many found no room.
  std::int64_t end_record(std::int64_t step_start_ns);

  // Of the oldest record that waits, in order of start: each allocation from its own start or the
  // step's, whichever is later, to its end or the step's, flagged accordingly. Empty: none waits.
  // One thread; allocates.
  std::vector<trace::model::Event> take_record();

 private:
  struct Record {
    std::vector<trace::model::Event> events;  // with their own starts
    std::int64_t step_start_ns = 0, end_ns = 0;
    bool is_waiting = false;
  };

  std::int64_t next_ns();  // CLOCK_REALTIME, but never twice the same and never back
  bool keep(const LiveAllocation& allocation);  // false: the table is full
  void drop(const LiveAllocation& known);
  void note_end(const LiveAllocation& allocation, std::int64_t end_ns, std::uint32_t flags);

  std::atomic<bool> keeps_addresses_{false};
  CategoryBytes bytes_;
  std::atomic<std::int64_t> reserved_{0};

  const std::size_t capacity_;
  mutable std::mutex mutex_;  // guards what follows
  AddressTable table_{0};
  std::int64_t last_ns_ = 0;
  std::int64_t unknown_bytes_ = 0;  // live, and not in the table
  std::int64_t peak_total_ = 0, peak_reserved_ = 0;
  std::optional<MemoryShortage> shortage_;
  std::array<Record, 2> records_;
  std::size_t writing_ = 0, taking_ = 0;  // which record
  bool is_recording_ = false;
  std::int64_t lost_ = 0;
};

}  // namespace shardlens::profiler::memory
