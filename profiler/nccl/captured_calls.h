// The calls that CUDA graphs have captured, by the handle that NCCL gets for each. NCCL keeps it as
// long as the graph, and hands it back with every replay in which the host takes part. Any thread;
// a lock for a few instructions while a graph is captured or such a replay begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace shardlens::profiler::nccl {

class CapturedCalls {
 public:
  // Of a program that captures again and again: 1 MiB.
  static constexpr std::size_t kMostCalls = 65'536;

  // `recording` tells those of one recording from another's.
  explicit CapturedCalls(std::uint64_t recording) : recording_(recording & kRecordingMask) {}

  // `collective`: handle of Recorder::capture_collective. nullptr: too many.
  void* add(std::uint64_t collective);

  struct Call {
    std::uint64_t collective = 0;
    bool is_told = false;  // what NCCL chose for it, by an earlier take()
  };
  // None: not a handle of add(). From then on it is told.
  std::optional<Call> take(void* handle);

 private:
  static constexpr std::uint64_t kRecordingMask = 0xffff;

  const std::uint64_t recording_;
  std::mutex mutex_;
  std::vector<Call> calls_;
};

}  // namespace shardlens::profiler::nccl
