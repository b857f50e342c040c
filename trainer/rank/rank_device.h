// Where a rank computes: a GPU of its own, a shared one, or the CPU; and what driver, CUDA and NCCL
// say of the GPU and of the way to the other ranks. Opens no CUDA context. One thread.
#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <string>

#include "profiler/nvml/gpu_link.h"
#include "profiler/nvml/nvml_library.h"
#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trainer/cuda/cuda_part.h"
#include "trainer/rank/rank_place.h"

namespace shardlens::trainer::rank {

struct RankDevice {
  c10::Device device = c10::kCPU;
  bool is_shared = false;  // other ranks compute on the same GPU
  std::string kind() const { return device.is_cuda() ? "cuda" : "cpu"; }
};

// GPUs go to local ranks in order. Errors (kUsage): no GPU, or fewer than ranks without
// `oversubscribe`.
trace::base::Result<RankDevice> choose_device(const trace::job::Settings& settings,
                                              const RankPlace& environment);
// The same on a machine with that many GPUs.
trace::base::Result<RankDevice> choose_device(const trace::job::Settings& settings,
                                              const RankPlace& environment, int gpus);

// "Intel Xeon …, 2 cores", "NVIDIA H100 …".
std::string device_name(c10::Device device);

struct GpuFacts {
  std::shared_ptr<const profiler::nvml::NvmlLibrary> nvml;  // null: not there; see `nvml_problem`
  std::string nvml_problem;
  std::string pci_bus_id;  // as NVML writes it
  std::string versions;    // "driver 580.95.05 for CUDA 13.0, CUDA 13.0, NCCL 2.28.9"
  profiler::nvml::GpuLink link;
};

// Of a rank on a GPU.
GpuFacts gather_gpu_facts(const cuda::CudaPart& cuda, const RankDevice& device,
                          const RankPlace& environment);

}  // namespace shardlens::trainer::rank
