// When detail was recorded: for sources that learn of an event long after it began. One thread
// opens and closes, in turn and in the order of time; any thread asks. Never locks or allocates.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace shardlens::profiler {

class DetailWindows {
 public:
  // Older windows are forgotten. A step takes at least a millisecond and CUPTI is flushed every
  // 100 ms, so that these reach back far enough.
  static constexpr std::size_t kKept = 256;

  void open(std::int64_t now_ns) {
    if (is_open_) return;
    is_open_ = true;
    Window& window = windows_[count_++ % kKept];
    window.start_ns = INT64_MAX;  // nothing is inside while both change
    window.end_ns = INT64_MAX;
    window.start_ns = now_ns;
  }
  void close(std::int64_t now_ns) {
    if (!is_open_) return;
    is_open_ = false;
    windows_[(count_ - 1) % kKept].end_ns = now_ns;
  }
  bool contains(std::int64_t time_ns) const {
    for (const Window& window : windows_) {
      if (time_ns >= window.start_ns && time_ns < window.end_ns) return true;
    }
    return false;
  }

 private:
  struct Window {
    std::atomic<std::int64_t> start_ns{INT64_MAX};
    std::atomic<std::int64_t> end_ns{INT64_MAX};
  };
  std::array<Window, kKept> windows_;
  std::size_t count_ = 0;  // the writer's, as is_open_
  bool is_open_ = false;
};

}  // namespace shardlens::profiler
