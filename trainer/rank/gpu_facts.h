// What driver, CUDA and NCCL say of a rank's GPU and of the way to the other ranks. Opens no CUDA
// context. One thread.
#pragma once

#include <c10/core/Device.h>

#include <memory>
#include <string>

#include "profiler/nvml/gpu_link.h"
#include "profiler/nvml/nvml_library.h"
#include "trainer/cuda/cuda_part.h"
#include "trainer/rank/rank_device.h"
#include "trainer/rank/rank_place.h"

namespace shardlens::trainer::rank {

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
