// When the latest steps were, for sources that know a row's time but not its step. One thread
// begins and ends; any thread asks. Locks: not for a hot path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

namespace shardlens::profiler::recorder {

class StepTimes {
 public:
  void begin(std::int64_t index, std::int64_t at_ns) {
    const std::lock_guard lock(mutex_);
    steps_.push_back({index, at_ns, INT64_MAX});
    if (steps_.size() > kKept) steps_.pop_front();
  }
  void end(std::int64_t at_ns) {
    const std::lock_guard lock(mutex_);
    if (!steps_.empty()) steps_.back().end_ns = at_ns;
  }
  // Where the latest step began, or ended, if it has; INT64_MAX: there is none.
  std::int64_t latest_boundary_ns() const {
    const std::lock_guard lock(mutex_);
    if (steps_.empty()) return INT64_MAX;
    const Times& latest = steps_.back();
    return latest.end_ns == INT64_MAX ? latest.start_ns : latest.end_ns;
  }
  // The step in which a moment lies; -1: in none, or in one that is forgotten.
  std::int64_t at(std::int64_t time_ns) const {
    const std::lock_guard lock(mutex_);
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      if (time_ns >= step->start_ns) return time_ns < step->end_ns ? step->index : -1;
    }
    return -1;
  }

 private:
  // A GPU's records come within seconds, and a step takes at least a millisecond.
  static constexpr std::size_t kKept = 4096;

  struct Times {
    std::int64_t index = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  mutable std::mutex mutex_;
  std::deque<Times> steps_;
};

}  // namespace shardlens::profiler::recorder
