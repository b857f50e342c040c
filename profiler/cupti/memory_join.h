// Puts the driver's allocations and releases together. The flush thread only.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "profiler/cupti/activity_sink.h"

namespace shardlens::profiler {

class MemoryJoin {
 public:
  explicit MemoryJoin(ActivitySink& sink) : sink_(sink) {}

  void add(const MemoryActivity& memory);
  // What was never released lives until now.
  void finish(std::int64_t now_ns);

 private:
  ActivitySink& sink_;
  std::unordered_map<std::uint64_t, MemoryActivity> live_;  // by address
};

}  // namespace shardlens::profiler
