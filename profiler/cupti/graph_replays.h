// Numbers the replays of captured launches and finds the calls that made them. The flush thread
// only.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "profiler/cupti/activity_sink.h"

namespace shardlens::profiler {

// A kernel says which node of which graph it is, so its number is the count of those before it. All
// ranks come to the same number, whenever their records come, if each has seen all: from the first
// doubt on there are none, since a replay that is compared with another one would be worse.
class GraphReplays {
 public:
  // The host is never so many launches ahead of the GPU: 1,024 is what CUDA lets wait.
  static constexpr std::size_t kMostCalls = 8'192;

  explicit GraphReplays(ActivitySink& sink) : sink_(sink) {}

  // Of a captured launch.
  void add(std::uint64_t launch, const KernelActivity& kernel);
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
    std::uint64_t launch = 0;
    KernelActivity kernel;
    bool is_old = false;  // one flush has passed
  };
  struct Counted {
    std::int64_t replays = 0;
    std::uint32_t last_call = 0;
    std::int64_t last_start_ns = 0;
    bool is_sure = true;
  };

  std::vector<Waiting> take_settled(bool is_last);
  std::int64_t number_of(const Waiting& replay);

  ActivitySink& sink_;
  std::vector<Waiting> waiting_;
  std::map<std::uint32_t, std::int64_t> calls_;         // their start, by correlation
  std::unordered_map<std::uint64_t, Counted> counted_;  // by launch
  bool has_lost_ = false;
};

}  // namespace shardlens::profiler
