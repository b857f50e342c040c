#include "profiler/memory/memory_category.h"

#include <atomic>

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

}  // namespace shardlens::profiler::memory
