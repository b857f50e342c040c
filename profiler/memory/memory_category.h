// What the memory that is allocated is for, as the job says, and how much is for what. Any thread;
// never locks or allocates.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "trace/model/events.h"

namespace shardlens::profiler::memory {

// Memory counts for the category that was set on the allocating thread (MemoryCategoryScope), or,
// if none was, for the one of the current phase set by set_default_category.
trace::model::MemoryCategory category_now();
void set_default_category(trace::model::MemoryCategory category);  // process-wide

class MemoryCategoryScope {
 public:
  explicit MemoryCategoryScope(trace::model::MemoryCategory category);
  ~MemoryCategoryScope();
  MemoryCategoryScope(const MemoryCategoryScope&) = delete;
  MemoryCategoryScope& operator=(const MemoryCategoryScope&) = delete;

 private:
  int previous_;
};

// Live bytes by category, with their peaks.
class CategoryBytes {
 public:
  using Composition = std::array<std::int64_t, trace::model::kMemoryCategoryCount>;

  void add(trace::model::MemoryCategory category, std::int64_t bytes);
  void remove(trace::model::MemoryCategory category, std::int64_t bytes);
  void move(trace::model::MemoryCategory from, trace::model::MemoryCategory to, std::int64_t bytes);

  std::int64_t total() const { return total_.load(std::memory_order_relaxed); }
  Composition current() const;
  struct Peak {
    Composition bytes{};       // when the total was highest
    std::int64_t time_ns = 0;  // then; CLOCK_REALTIME
    Composition highest{};     // of each category, at its own time
  };
  // Since the last call. Of threads that reach a maximum in the same instant, one is remembered.
  Peak take_peak();

 private:
  std::atomic<std::int64_t>& of(trace::model::MemoryCategory category) {
    return bytes_[static_cast<std::size_t>(category)];
  }
  void grow(trace::model::MemoryCategory category, std::int64_t bytes);
  void note_peak();

  std::array<std::atomic<std::int64_t>, trace::model::kMemoryCategoryCount> bytes_{}, highest_{};
  std::atomic<std::int64_t> total_{0};
  std::atomic<std::int64_t> peak_total_{0};
  std::atomic_flag peak_busy_;
  Composition peak_{};        // guarded by peak_busy_
  std::int64_t peak_ns_ = 0;  // as well
};

}  // namespace shardlens::profiler::memory
