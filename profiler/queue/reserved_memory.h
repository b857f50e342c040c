// Zeroed memory whose pages come when they are first touched, so that room for a burst costs
// nothing until it comes. Moves nowhere.
#pragma once

#include <cstddef>

namespace shardlens::profiler::queue {

class ReservedMemory {
 public:
  explicit ReservedMemory(std::size_t bytes);  // std::bad_alloc where there is no room for it
  ~ReservedMemory();
  ReservedMemory(const ReservedMemory&) = delete;
  ReservedMemory& operator=(const ReservedMemory&) = delete;

  void* data() const { return data_; }
  // The first `bytes` get their pages now: who writes there later meets no page fault.
  void touch(std::size_t bytes) const;

 private:
  const std::size_t bytes_;
  void* const data_;
};

}  // namespace shardlens::profiler::queue
