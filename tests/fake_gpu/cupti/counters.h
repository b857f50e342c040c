// What a program asked of the made-up GPU, counted. Where FAKE_GPU_COUNTERS names a file, they lie
// in that file, its name followed by a dot and the process's RANK (0 without one): eight bytes
// each, in this order. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace shardlens::fake_gpu {

struct Counters {
  std::atomic<std::int64_t> kernels;  // collectives included
  std::atomic<std::int64_t> kernel_ns;
  std::atomic<std::int64_t> host_waits;        // for a stream, an event or the device
  std::atomic<std::int64_t> memory_questions;  // how much is free
};
Counters& counters();

}  // namespace shardlens::fake_gpu
