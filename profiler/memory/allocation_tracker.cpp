#include "profiler/memory/allocation_tracker.h"

#include <algorithm>
#include <utility>

#include "trace/base/wall_clock.h"

namespace shardlens::profiler::memory {

AllocationTracker::AllocationTracker(std::size_t capacity, std::size_t record_capacity)
    : capacity_(capacity) {
  // Not touched: a page fault for every hundred events costs less than memory that most runs would
  // hold for one step.
  for (Record& record : records_) record.events.reserve(record_capacity);
}

std::int64_t AllocationTracker::next_ns() {
  last_ns_ = std::max(trace::base::wall_clock_ns(), last_ns_ + 1);
  return last_ns_;
}

void AllocationTracker::keep_addresses(bool keep) {
  const std::lock_guard lock(mutex_);
  if (keep == keeps_addresses_) return;
  table_ = AddressTable(keep ? capacity_ : 0);
  if (keep) {
    unknown_bytes_ = bytes_.total();
    peak_total_ = bytes_.total();
    peak_reserved_ = reserved_bytes();
  }
  keeps_addresses_ = keep;
}

// ---- hooks

void AllocationTracker::allocated(const LiveAllocation& allocation, bool is_forgotten) {
  constexpr auto kOther = trace::model::MemoryCategory::kOther;
  if (!keeps_addresses_.load(std::memory_order_relaxed)) {
    bytes_.add(is_forgotten ? kOther : allocation.category, allocation.bytes);
    return;
  }
  const std::lock_guard lock(mutex_);
  if (!keep(allocation) && is_forgotten) bytes_.move(allocation.category, kOther, allocation.bytes);
}

void AllocationTracker::freed(const LiveAllocation& known) {
  if (!keeps_addresses_.load(std::memory_order_relaxed)) {
    bytes_.remove(known.category, known.bytes);
    return;
  }
  const std::lock_guard lock(mutex_);
  drop(known);
}

bool AllocationTracker::keep(const LiveAllocation& allocation) {
  // An end that was missed: the address is given out again.
  if (LiveAllocation* stale = table_.find(allocation.address)) {
    const LiveAllocation copy = *stale;
    drop(copy);
  }
  LiveAllocation kept = allocation;
  kept.start_ns = next_ns();
  bytes_.add(kept.category, kept.bytes);
  const bool has_room = table_.insert(kept);
  if (!has_room) {
    unknown_bytes_ += kept.bytes;
    if (is_recording_) ++lost_;
  }
  if (const std::int64_t total = bytes_.total(); total > peak_total_) {
    peak_total_ = total;
    peak_reserved_ = reserved_.load(std::memory_order_relaxed);
  }
  return has_room;
}

void AllocationTracker::drop(const LiveAllocation& known) {
  LiveAllocation* found = table_.find(known.address);
  if (found == nullptr) {
    bytes_.remove(known.category, known.bytes);
    unknown_bytes_ = std::max<std::int64_t>(0, unknown_bytes_ - known.bytes);
    return;
  }
  bytes_.remove(found->category, found->bytes);
  if (is_recording_) note_end(*found, next_ns(), 0);
  table_.erase(found);
}

void AllocationTracker::note_end(const LiveAllocation& allocation, std::int64_t end_ns,
                                 std::uint32_t flags) {
  auto& events = records_[writing_].events;
  if (events.size() == events.capacity()) {
    ++lost_;
    return;
  }
  trace::model::Event event;
  event.start_ns = allocation.start_ns;
  event.duration_ns = end_ns - allocation.start_ns;
  event.name = allocation.name;
  event.flags = flags | trace::model::flags_of(allocation.category);
  event.correlation = allocation.address;
  event.value = allocation.bytes;
  events.push_back(event);
}

void AllocationTracker::moved(std::uint64_t address, trace::model::MemoryCategory from,
                              trace::model::MemoryCategory to, std::int64_t bytes) {
  if (from == to) return;
  if (!keeps_addresses_.load(std::memory_order_relaxed)) return bytes_.move(from, to, bytes);
  const std::lock_guard lock(mutex_);
  bytes_.move(from, to, bytes);
  if (LiveAllocation* found = table_.find(address)) found->category = to;
}

void AllocationTracker::moved(std::uint64_t address, trace::model::MemoryCategory to) {
  const std::lock_guard lock(mutex_);
  LiveAllocation* found = table_.find(address);
  if (found == nullptr || found->category == to) return;
  bytes_.move(found->category, to, found->bytes);
  found->category = to;
}

void AllocationTracker::note_shortage(std::int64_t asked_bytes) {
  const std::lock_guard lock(mutex_);
  shortage_ = {asked_bytes, bytes_.current(), reserved_bytes()};
}

// ---- peaks

AllocationTracker::Peak AllocationTracker::take_peak() {
  if (!keeps_addresses_.load(std::memory_order_relaxed)) {
    const std::int64_t reserved = reserved_bytes();
    return {bytes_.take_peak(), reserved};
  }
  const std::lock_guard lock(mutex_);
  const Peak peak{bytes_.take_peak(), peak_reserved_};
  peak_total_ = bytes_.total();
  peak_reserved_ = reserved_bytes();
  return peak;
}

std::optional<MemoryShortage> AllocationTracker::last_shortage() const {
  const std::lock_guard lock(mutex_);
  return shortage_;
}

// ---- records

bool AllocationTracker::begin_record() {
  if (!keeps_addresses_.load(std::memory_order_relaxed)) return false;
  const std::lock_guard lock(mutex_);
  if (is_recording_ || records_[writing_].is_waiting) return false;
  is_recording_ = true;
  lost_ = 0;
  return true;
}

std::int64_t AllocationTracker::end_record(std::int64_t step_start_ns) {
  const std::lock_guard lock(mutex_);
  if (!is_recording_) return 0;
  Record& record = records_[writing_];
  record.step_start_ns = step_start_ns;
  record.end_ns = next_ns();
  table_.visit([&](const LiveAllocation& allocation) {
    note_end(allocation, record.end_ns, trace::model::kEventNotFreed);
  });
  // So that the sum stays true.
  if (unknown_bytes_ > 0) {
    note_end({0, unknown_bytes_, step_start_ns}, record.end_ns, trace::model::kEventNotFreed);
  }
  record.is_waiting = true;
  writing_ = 1 - writing_;
  is_recording_ = false;
  return std::exchange(lost_, 0);
}

std::vector<trace::model::Event> AllocationTracker::take_record() {
  {
    const std::lock_guard lock(mutex_);
    if (!records_[taking_].is_waiting) return {};
  }
  // Nobody else touches a record that waits.
  Record& record = records_[taking_];
  std::vector<trace::model::Event> events;
  events.reserve(record.events.size());
  for (trace::model::Event event : record.events) {
    if (event.end_ns() <= record.step_start_ns) continue;
    if (event.start_ns <= record.step_start_ns) {
      event.flags |= trace::model::kEventOlder;
      event.duration_ns = event.end_ns() - record.step_start_ns;
      event.start_ns = record.step_start_ns;
    }
    events.push_back(event);
  }
  std::ranges::stable_sort(events, {}, &trace::model::Event::start_ns);
  const std::lock_guard lock(mutex_);
  record.events.clear();
  record.is_waiting = false;
  taking_ = 1 - taking_;
  return events;
}

}  // namespace shardlens::profiler::memory
