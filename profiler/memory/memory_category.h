// What the memory that is allocated is for, as the job says. Any thread; never locks or allocates.
#pragma once

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

}  // namespace shardlens::profiler::memory
