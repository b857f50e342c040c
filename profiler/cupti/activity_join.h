// Joins CUPTI's records, which arrive out of order, and hands them to a sink. The flush thread
// only. A kernel, its launch and its copies share CUPTI's correlation id, so only communication
// kernels, whose launch was marked with an external id, have to wait for another record. Those that
// a CUDA graph replays are known by their node.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "profiler/cupti/api/activity_sink.h"
#include "profiler/cupti/graphs/graph_nodes.h"
#include "profiler/cupti/graphs/graph_replays.h"

namespace shardlens::profiler::cupti {

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
      : sink_(sink), nodes_(nodes), replays_(sink) {}

  void add(const Activity& activity, std::int64_t now_ns);
  // CUPTI has lost records.
  void note_loss() { replays_.note_loss(); }
  // After each flush; `all`: after one that gave everything. Gives up waiting for what is older
  // than its time limit.
  void expire(std::int64_t now_ns, bool all = false);
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
  void take(const ExternalActivity& external, std::int64_t now_ns);

  void take_replayed(const KernelActivity& kernel);

  ActivitySink& sink_;
  const GraphNodes* nodes_;
  GraphReplays replays_;
  bool launches_are_marked_ = false;
  // By correlation id.
  std::unordered_map<std::uint32_t, Waiting<KernelActivity>> kernels_;
  std::unordered_map<std::uint32_t, Waiting<std::uint64_t>> externals_;
};

}  // namespace shardlens::profiler::cupti
