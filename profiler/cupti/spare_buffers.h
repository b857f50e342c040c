// Buffers for a CUPTI that crashes when it is refused one, as those before CUDA 12.9 do: what it
// writes there is lost. The one place where CUPTI's callbacks allocate. Any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profiler/cupti/buffer_pool.h"

namespace shardlens::profiler {

class CuptiSpareBuffers {
 public:
  // Of CUDA 12.9, as Kineto tells them apart (kCuptiBufferRejectionMinVersion).
  static constexpr std::uint32_t kFirstVersionThatTakesNone = 27;
  static constexpr std::size_t kMost = 256;
  static constexpr std::size_t kBytes = CuptiBufferPool::kBufferBytes;

  // Zeroed. nullptr: so many are out that CUPTI no longer gives them back, or no memory.
  std::uint8_t* request();
  // Frees it. False: not one of these.
  bool complete(std::uint8_t* buffer);

 private:
  std::array<std::atomic<std::uint8_t*>, kMost> out_{};
};

}  // namespace shardlens::profiler
