#include "profiler/memory/memory_category.h"

#include <atomic>

namespace shardlens::profiler {
namespace {

constexpr int kNoScope = -1;
// LibTorch's allocators belong to the process, so this does, too.
std::atomic<trace::MemoryCategory> default_category{trace::MemoryCategory::kOther};
thread_local int scope_category = kNoScope;

}  // namespace

trace::MemoryCategory category_now() {
  if (scope_category != kNoScope) return static_cast<trace::MemoryCategory>(scope_category);
  return default_category.load(std::memory_order_relaxed);
}

void set_default_category(trace::MemoryCategory category) {
  default_category.store(category, std::memory_order_relaxed);
}

MemoryCategoryScope::MemoryCategoryScope(trace::MemoryCategory category)
    : previous_(scope_category) {
  scope_category = static_cast<int>(category);
}
MemoryCategoryScope::~MemoryCategoryScope() { scope_category = previous_; }

}  // namespace shardlens::profiler
