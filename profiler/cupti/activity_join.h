// Joins CUPTI's records, which arrive out of order, and hands them to a sink. The flush thread
// only. A kernel, its launch and its copies share CUPTI's correlation id, so only communication
// kernels, which belong to a collective by an external id, have to wait for another record.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "profiler/cupti/activity.h"
#include "trace/model/events.h"

namespace shardlens::profiler {

// Pushed around a launch with cuptiActivityPushExternalCorrelationId; the id is the handle of
// Recorder::enter_collective.
inline constexpr CUpti_ExternalCorrelationKind kCollectiveCorrelation =
    CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2;

class ActivitySink {
 public:
  virtual ~ActivitySink() = default;
  virtual void kernel(const KernelActivity& kernel) = 0;
  virtual void copy(const CopyActivity& copy) = 0;
  virtual void launch(const LaunchActivity& launch) = 0;
  // A communication kernel and the collective that launched it. It is a kernel() too.
  virtual void collective(std::uint64_t handle, const KernelActivity& kernel) = 0;
  virtual void overhead(std::int64_t ns) = 0;
  // A record without a start, or that ends before it starts.
  virtual void bad_timestamps() = 0;
};

class ActivityJoin {
 public:
  // CUPTI is flushed every 100-250 ms: a record that is missing for so long will not come.
  static constexpr std::int64_t kTimeLimitNs = 5'000'000'000;

  explicit ActivityJoin(ActivitySink& sink) : sink_(sink) {}

  void add(const Activity& activity, std::int64_t now_ns);
  // Gives up waiting for what is older than the time limit.
  void expire(std::int64_t now_ns);
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
  void take(const ExternalActivity& external, std::int64_t now_ns);
  void take(const OverheadActivity& overhead, std::int64_t now_ns);

  ActivitySink& sink_;
  // By correlation id.
  std::unordered_map<std::uint32_t, Waiting<KernelActivity>> kernels_;
  std::unordered_map<std::uint32_t, Waiting<std::uint64_t>> externals_;
};

}  // namespace shardlens::profiler
