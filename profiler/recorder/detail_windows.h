// When detail was recorded: for sources that learn of an event long after it began. One thread
// opens and closes, in turn and in the order of time; any thread asks. Never locks or allocates.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace shardlens::profiler::recorder {

class DetailWindows {
 public:
  // Older windows are forgotten. A step takes at least a millisecond and CUPTI is flushed every
  // 100 ms, so that these reach back far enough.
  static constexpr std::size_t kKept = 256;

  void open(std::int64_t now_ns) {
    if (is_open_) return;
    is_open_ = true;
    Window& window = windows_[count_ % kKept];
    window.start_ns = INT64_MAX;  // nothing is inside while both change
    window.end_ns = INT64_MAX;
    window.start_ns = now_ns;
    ++count_;
  }
  void close(std::int64_t now_ns) {
    if (!is_open_) return;
    is_open_ = false;
    windows_[(count_ - 1) % kKept].end_ns = now_ns;
  }
  bool contains(std::int64_t time_ns) const {
    const std::size_t count = count_;
    for (std::size_t age = 0; age < std::min(count, kKept); ++age) {
      const Window& window = windows_[(count - 1 - age) % kKept];
      // The newest that had begun decides; most that is asked for is later than all windows' begin.
      if (time_ns >= window.start_ns) return time_ns < window.end_ns;
    }
    return false;
  }

 private:
  struct Window {
    std::atomic<std::int64_t> start_ns{INT64_MAX};
    std::atomic<std::int64_t> end_ns{INT64_MAX};
  };
  std::array<Window, kKept> windows_;
  std::atomic<std::size_t> count_{0};
  bool is_open_ = false;  // the writer's
};

}  // namespace shardlens::profiler::recorder
