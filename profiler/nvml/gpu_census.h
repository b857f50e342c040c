// The GPUs of this machine with what matters to a job on them, for a check of the machine. Any
// thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/nvml/gpu_link.h"
#include "profiler/nvml/nvml_library.h"

namespace shardlens::profiler::nvml {

struct GpuFacts {
  std::string name;
  std::optional<NvmlMemory> memory;
  std::optional<bool> mig, persistence;  // nothing: the GPU does not know of it
  // Processes with a CUDA context and what they hold; nothing: not allowed, or not known.
  std::optional<std::vector<NvmlProcess>> processes;
  NvlinkFacts nvlink;
  GpuLink pcie;
};

// Nothing: not allowed, or not known.
std::optional<std::vector<NvmlProcess>> compute_processes_on(const NvmlLibrary& library,
                                                             NvmlDevice device);

struct GpuPair {
  int from = 0, to = 0;  // places in GpuCensus::gpus
  PeerAccess access = PeerAccess::kUnknown;
};

struct GpuCensus {
  std::string driver;    // "580.95.05"
  int cuda_version = 0;  // that the driver supports, at most
  std::vector<GpuFacts> gpus;
  std::vector<GpuPair> pairs;  // from < to
};

GpuCensus take_gpu_census(const NvmlLibrary& library);

}  // namespace shardlens::profiler::nvml
