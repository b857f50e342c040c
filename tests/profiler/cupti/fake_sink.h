// Counts and keeps what joins of GPU activity hand out. For tests.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/cupti/api/activity_sink.h"

namespace shardlens::profiler::cupti {

struct FakeSink final : ActivitySink {
  void kernel(const KernelActivity&) override { ++kernels; }
  void copy(const CopyActivity&) override { ++copies; }
  void launch(const LaunchActivity&) override { ++launches; }
  void wait(const WaitActivity&) override { ++waits; }
  void launched_kernel(std::uint64_t launch, const KernelActivity& kernel) override {
    launched.emplace_back(launch, kernel.correlation);
  }
  void replayed_kernel(const ReplayedKernel& replay) override { replayed.push_back(replay); }
  void bad_timestamps() override { ++bad; }
  void unmatched(std::int64_t count) override { no_counterpart += count; }

  int kernels = 0, copies = 0, launches = 0, waits = 0, bad = 0;
  std::int64_t no_counterpart = 0;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> launched;
  std::vector<ReplayedKernel> replayed;
};

}  // namespace shardlens::profiler::cupti
