// Counts what another program than ours, PyTorch in Python, allocates on the CPU, with the very
// allocator that counts ours. Loaded with ctypes. Any thread.
#include <cstdint>
#include <cstdio>

#include "profiler/pytorch/torch_sources.h"

using shardlens::profiler::pytorch::install_cpu_memory_tracker;
using shardlens::profiler::pytorch::take_cpu_memory_peak;
using shardlens::trace::model::MemoryCategory;

extern "C" {

// Before the first tensor. 0, or 1 with the reason on standard error.
__attribute__((visibility("default"))) int count_allocations() {
  const auto installed = install_cpu_memory_tracker();
  if (installed) return 0;
  std::fprintf(stderr, "error: %s\n", installed.error().message.c_str());
  return 1;
}

// The most that tensors held at one time since the last call, in bytes.
__attribute__((visibility("default"))) std::int64_t take_allocation_peak() {
  const auto peak = take_cpu_memory_peak();
  return peak.total_bytes() - peak.bytes[static_cast<std::size_t>(MemoryCategory::kOutside)];
}
}
