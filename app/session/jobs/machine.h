// What a job could run on here: the GPUs and the memory of this machine. Plain values, any thread.
#pragma once

#include <cstdint>

#include "app/launch/device_probe.h"

namespace shardlens::app {

struct Machine {
  CudaProbe cuda;
  std::int64_t host_bytes = 0;  // physical memory; 0: not known
};

// Asks the driver and the kernel: once, at the start.
Machine this_machine();

}  // namespace shardlens::app
