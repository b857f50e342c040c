// Numbers the replays of captured launches and finds the calls that made them. The flush thread
// only.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "profiler/cupti/api/activity_sink.h"
#include "profiler/cupti/graphs/graph_nodes.h"

namespace shardlens::profiler::cupti {

// A kernel says which launch it is a replay of. The launches of one order are numbered in the
// order in which they ran first, and the replays of each by themselves: as all ranks run what they
// share in the same order, they come to the same numbers, whatever else they do and whenever their
// records come, if each has seen all. From the first doubt on there are none, since a replay that
// is compared with another one would be worse.
class GraphReplays {
 public:
  // Of a host that is further ahead of the GPU, calls are forgotten before their kernels come.
  static constexpr std::size_t kMostCalls = 8'192;
  // A call is recorded when it returns: on a busy host flushes after the kernels that it started.
  // So many are waited for, at 100 ms each.
  static constexpr int kMostFlushes = 20;

  explicit GraphReplays(ActivitySink& sink) : sink_(sink) {}

  // Of a captured launch.
  void add(const CapturedLaunch& launch, const KernelActivity& kernel);
  // A call that replays a graph.
  void add(const LaunchActivity& call);
  // Records are missing, nobody knows of what.
  void note_loss() { has_lost_ = true; }
  // After each flush. Hands out what came before the last one: CUPTI promises no order, but what
  // was done together comes together. With `is_last`, all.
  void settle(bool is_last = false);
  std::size_t waiting() const { return waiting_.size(); }

 private:
  struct Waiting {
    CapturedLaunch launch;
    KernelActivity kernel;
    int flushes = 0;  // that have passed
  };
  struct Order {
    std::int64_t launches = 0;
    std::uint32_t last_call = 0;
    std::int64_t last_start_ns = 0;
    bool is_in_order = true;
  };
  struct Launch {
    std::int64_t place = 0;
    std::int64_t replays = 0;
  };
  // Counted for good: what was counted once must not be counted anew.
  static constexpr std::size_t kMostLaunches = 1 << 20;

  // Whether the record of its call may still come.
  bool awaits_call(const Waiting& replay) const;
  std::vector<Waiting> take_settled(bool is_last);
  void number(ReplayedKernel& replay, std::uint64_t order);

  ActivitySink& sink_;
  std::vector<Waiting> waiting_;
  std::map<std::uint32_t, std::int64_t> calls_;  // their start, by correlation
  bool calls_come_ = false;  // the last one that was looked for was there, or one came since
  std::unordered_map<std::uint64_t, Order> orders_;
  std::unordered_map<std::uint64_t, Launch> launches_;
  bool has_lost_ = false;
};

}  // namespace shardlens::profiler::cupti
