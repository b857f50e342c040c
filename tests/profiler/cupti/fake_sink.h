// Counts and keeps what joins of GPU activity hand out. For tests.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/cupti/api/activity_sink.h"

namespace shardlens::profiler::cupti {

struct FakeSink final : ActivitySink {
  void kernel(const KernelActivity&) override { ++kernels; }
  void copy(const CopyActivity&) override { ++copies; }
  void launch(const LaunchActivity&) override { ++launches; }
  void wait(const WaitActivity&) override { ++waits; }
  void range(const RangeActivity& range) override {
    ranges.push_back({std::string(range.name), range.depth, range.start_ns, range.end_ns});
  }
  void allocation(const MemoryActivity& memory, std::int64_t end_ns) override {
    allocations.emplace_back(memory.bytes, end_ns - memory.time_ns);
  }
  void launched_kernel(std::uint64_t launch, const KernelActivity& kernel) override {
    launched.emplace_back(launch, kernel.correlation);
  }
  void replayed_kernel(const ReplayedKernel& replay) override { replayed.push_back(replay); }
  void bad_timestamps() override { ++bad; }
  void unmatched(std::int64_t count) override { no_counterpart += count; }

  struct Range {
    std::string name;
    int depth = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
    bool operator==(const Range&) const = default;
  };
  int kernels = 0, copies = 0, launches = 0, waits = 0, bad = 0;
  std::int64_t no_counterpart = 0;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> launched;
  std::vector<ReplayedKernel> replayed;
  std::vector<Range> ranges;
  std::vector<std::pair<std::int64_t, std::int64_t>> allocations;
};

}  // namespace shardlens::profiler::cupti
