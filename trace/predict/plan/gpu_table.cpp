#include "trace/predict/plan/gpu_table.h"

#include <array>

namespace shardlens::trace::predict {

namespace {

// The memory is what nvidia-smi reports as total, in MiB: less than the name says where ECC or the
// firmware keep some.
constexpr std::array kGpus{
    GpuModel{"h100-80", "NVIDIA H100 80GB", 81559},
    GpuModel{"h200-141", "NVIDIA H200 141GB", 143771},
    GpuModel{"b200-192", "NVIDIA B200 192GB", 183359},
    GpuModel{"a100-40", "NVIDIA A100 40GB", 40960},
    GpuModel{"a100-80", "NVIDIA A100 80GB", 81920},
    GpuModel{"l40s-48", "NVIDIA L40S 48GB", 46068},
    GpuModel{"a10g-24", "NVIDIA A10G 24GB", 23028},
    GpuModel{"l4-24", "NVIDIA L4 24GB", 23034},
    GpuModel{"t4-16", "NVIDIA T4 16GB", 15360},
    GpuModel{"v100-32", "NVIDIA V100 32GB", 32768},
    GpuModel{"rtx3090-24", "GeForce RTX 3090 24GB", 24576},
    GpuModel{"rtx4090-24", "GeForce RTX 4090 24GB", 24564},
    GpuModel{"rtx5090-32", "GeForce RTX 5090 32GB", 32607},
};

}  // namespace

std::span<const GpuModel> gpu_models() { return kGpus; }

base::Result<GpuModel> find_gpu(std::string_view name) {
  std::string names;
  for (const GpuModel& gpu : kGpus) {
    if (gpu.name == name) return gpu;
    names += (names.empty() ? "" : ", ") + std::string(gpu.name);
  }
  return base::fail(base::ErrorKind::kUsage,
                    "There is no GPU \"" + std::string(name) + "\" in the table. Choose one of " +
                        names + ", or say how much memory yours has with --memory-gb.");
}

}  // namespace shardlens::trace::predict
