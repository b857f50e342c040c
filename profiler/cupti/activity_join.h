// Joins CUPTI's records, which arrive out of order, and hands them to a sink. The flush thread
// only. A kernel, its launch and its copies share CUPTI's correlation id, so only communication
// kernels, whose launch was marked with an external id, have to wait for another record. Those that
// a CUDA graph replays are known by their node.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "profiler/cupti/api/activity_sink.h"
#include "profiler/cupti/graphs/graph_nodes.h"
#include "profiler/cupti/graphs/graph_replays.h"

namespace shardlens::profiler::cupti {

// Puts the starts and ends of NVTX ranges together.
class MarkerJoin {
 public:
  // A program that never ends its ranges must not fill the memory.
  static constexpr std::size_t kMostOpen = 1 << 16;

  explicit MarkerJoin(ActivitySink& sink) : sink_(sink) {}

  void add(const MarkerActivity& marker);

 private:
  // Ranges may overlap without nesting: each takes the highest row that is free when it starts.
  using Rows = std::bitset<RangeActivity::kMostDepth + 1>;
  struct Open {
    std::string name;
    std::uint32_t thread = 0;
    int depth = 0;
    std::int64_t start_ns = 0;
  };

  void start(const MarkerActivity& marker);
  void end(const MarkerActivity& marker);

  ActivitySink& sink_;
  std::unordered_map<std::uint32_t, Open> open_;  // by the range's id
  std::unordered_map<std::uint32_t, Rows> rows_;  // by thread: those in use
};

// Puts the driver's allocations and releases together.
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

// Pushed around a launch of NCCL; the id is that of Recorder::end_launch.
inline constexpr CUpti_ExternalCorrelationKind kLaunchCorrelation =
    CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2;

class ActivityJoin {
 public:
  // CUPTI is flushed every 100-250 ms: a record that is missing for so long will not come.
  static constexpr std::int64_t kTimeLimitNs = 5'000'000'000;
  // But a mark comes with the launch, and the kernel not before its end: it may wait for a rank
  // that writes a checkpoint. Longer than NCCL's watchdog lets it by default, 10 minutes.
  static constexpr std::int64_t kMarkLimitNs = 900'000'000'000;
  // Marks of calls that start no kernel stay, too. With more than this (4 MiB) kTimeLimitNs holds
  // for marks as well.
  static constexpr std::size_t kMostOldMarks = 65'536;

  // `nodes`: of the graphs that the job builds; null where nobody watches them.
  explicit ActivityJoin(ActivitySink& sink, const GraphNodes* nodes = nullptr)
      : sink_(sink), nodes_(nodes), markers_(sink), memory_(sink), replays_(sink) {}

  void add(const Activity& activity, std::int64_t now_ns);
  // CUPTI has lost records.
  void note_loss() { replays_.note_loss(); }
  // After each flush; `all`: after one that gave everything. Gives up waiting for what is older
  // than its time limit.
  void expire(std::int64_t now_ns, bool all = false);
  // Nothing follows.
  void finish(std::int64_t now_ns) { memory_.finish(now_ns); }
  std::size_t waiting() const { return kernels_.size() + externals_.size(); }

 private:
  template <typename T>
  struct Waiting {
    T value;
    std::int64_t since_ns = 0;
  };

  void take(const KernelActivity& kernel, std::int64_t now_ns);
  void take(const CopyActivity& copy, std::int64_t now_ns);
  void take(const LaunchActivity& launch, std::int64_t now_ns);
  void take(const WaitActivity& wait, std::int64_t now_ns);
  void take(const MarkerActivity& marker, std::int64_t) { markers_.add(marker); }
  void take(const MemoryActivity& memory, std::int64_t) { memory_.add(memory); }
  void take(const ExternalActivity& external, std::int64_t now_ns);

  void take_replayed(const KernelActivity& kernel);

  ActivitySink& sink_;
  const GraphNodes* nodes_;
  MarkerJoin markers_;
  MemoryJoin memory_;
  GraphReplays replays_;
  bool launches_are_marked_ = false;
  // By correlation id.
  std::unordered_map<std::uint32_t, Waiting<KernelActivity>> kernels_;
  std::unordered_map<std::uint32_t, Waiting<std::uint64_t>> externals_;
};

}  // namespace shardlens::profiler::cupti
