// GPUs that jobs are planned for. Plain values, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "trace/base/result.h"

namespace shardlens::trace::predict {

struct GpuModel {
  std::string_view name;        // as after --gpu
  std::string_view title;       // as its maker calls it
  std::int64_t memory_mib = 0;  // as nvidia-smi reports it

  std::int64_t memory_bytes() const { return memory_mib << 20; }
};

std::span<const GpuModel> gpu_models();
// Error kUsage: not in the table; all are named.
base::Result<GpuModel> find_gpu(std::string_view name);

// An allowance for what a rank uses beside its tensors: CUDA's context and loaded kernels (about
// 0.5 GiB on an H100), NCCL's buffers and kernels (up to 1 GiB), and what the
// caching allocator loses to rounding.
inline constexpr std::int64_t kReservedBytes = std::int64_t{2} << 30;

}  // namespace shardlens::trace::predict
