#include "profiler/memory/memory_category.h"

#include <atomic>
#include <numeric>
#include <thread>

#include "trace/base/wall_clock.h"

namespace shardlens::profiler::memory {

namespace {

constexpr int kNoScope = -1;
// LibTorch's allocators belong to the process, so this does, too.
std::atomic<trace::model::MemoryCategory> default_category{trace::model::MemoryCategory::kOther};
thread_local int scope_category = kNoScope;

}  // namespace

trace::model::MemoryCategory category_now() {
  if (scope_category != kNoScope) return static_cast<trace::model::MemoryCategory>(scope_category);
  return default_category.load(std::memory_order_relaxed);
}

void set_default_category(trace::model::MemoryCategory category) {
  default_category.store(category, std::memory_order_relaxed);
}

MemoryCategoryScope::MemoryCategoryScope(trace::model::MemoryCategory category)
    : previous_(scope_category) {
  scope_category = static_cast<int>(category);
}
MemoryCategoryScope::~MemoryCategoryScope() { scope_category = previous_; }

void CategoryBytes::grow(trace::model::MemoryCategory category, std::int64_t bytes) {
  const std::int64_t now = of(category).fetch_add(bytes, std::memory_order_relaxed) + bytes;
  auto& highest = highest_[static_cast<std::size_t>(category)];
  std::int64_t before = highest.load(std::memory_order_relaxed);
  while (now > before && !highest.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
}

void CategoryBytes::add(trace::model::MemoryCategory category, std::int64_t bytes) {
  grow(category, bytes);
  const std::int64_t total = total_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (total > peak_total_.load(std::memory_order_relaxed)) note_peak();
}

void CategoryBytes::remove(trace::model::MemoryCategory category, std::int64_t bytes) {
  of(category).fetch_sub(bytes, std::memory_order_relaxed);
  total_.fetch_sub(bytes, std::memory_order_relaxed);
}

void CategoryBytes::move(trace::model::MemoryCategory from, trace::model::MemoryCategory to,
                         std::int64_t bytes) {
  grow(to, bytes);
  of(from).fetch_sub(bytes, std::memory_order_relaxed);
  // Still at the peak: it is better known now what it consists of.
  if (total() == peak_total_.load(std::memory_order_relaxed)) note_peak();
}

CategoryBytes::Composition CategoryBytes::current() const {
  Composition result{};
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = bytes_[i].load(std::memory_order_relaxed);
  return result;
}

void CategoryBytes::note_peak() {
  if (peak_busy_.test_and_set(std::memory_order_acquire)) return;
  const Composition now = current();
  const std::int64_t total = std::accumulate(now.begin(), now.end(), std::int64_t{0});
  if (total >= peak_total_.load(std::memory_order_relaxed)) {
    peak_ = now;
    peak_ns_ = trace::base::wall_clock_ns();
    peak_total_.store(total, std::memory_order_relaxed);
  }
  peak_busy_.clear(std::memory_order_release);
}

CategoryBytes::Peak CategoryBytes::take_peak() {
  while (peak_busy_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  Peak taken;
  taken.bytes = peak_;
  taken.time_ns = peak_ns_;
  peak_ = current();
  peak_ns_ = trace::base::wall_clock_ns();
  for (std::size_t i = 0; i < peak_.size(); ++i) {
    taken.highest[i] = highest_[i].exchange(peak_[i], std::memory_order_relaxed);
  }
  peak_total_.store(std::accumulate(peak_.begin(), peak_.end(), std::int64_t{0}),
                    std::memory_order_relaxed);
  peak_busy_.clear(std::memory_order_release);
  return taken;
}

}  // namespace shardlens::profiler::memory
