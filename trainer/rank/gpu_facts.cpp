#include "trainer/rank/gpu_facts.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>

#include <algorithm>

#include "trace/base/number_text.h"

namespace shardlens::trainer::rank {

namespace {

// Domain, bus and device, all in hexadecimal; function 0, as a GPU has.
std::string bus_id_of(c10::DeviceIndex index) {
  cudaDeviceProp properties{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
  return trace::base::formatted("%08X:%02X:%02X.0", static_cast<unsigned>(properties.pciDomainID),
                                static_cast<unsigned>(properties.pciBusID),
                                static_cast<unsigned>(properties.pciDeviceID));
}

std::string versions_text(const profiler::nvml::NvmlLibrary* nvml, const std::string& nccl) {
  int driver = 0, runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  if (cudaRuntimeGetVersion(&runtime) != cudaSuccess) runtime = 0;
  const std::string version = nvml != nullptr ? nvml->driver_version() : "";
  return "driver " + (version.empty() ? "of an unknown version" : version) + " for CUDA " +
         profiler::nvml::cuda_version_text(driver) + ", CUDA " +
         profiler::nvml::cuda_version_text(runtime) + (nccl.empty() ? "" : ", NCCL " + nccl);
}

// GPUs go to local ranks in order; see choose_device().
std::vector<std::string> peers_of(const RankPlace& environment) {
  std::vector<std::string> peers;
  const int gpus = static_cast<int>(c10::cuda::device_count());
  for (int rank = 0; rank < std::min(environment.local_world_size, gpus); ++rank) {
    if (rank == environment.local_rank) continue;
    peers.push_back(bus_id_of(static_cast<c10::DeviceIndex>(rank)));
  }
  return peers;
}

}  // namespace

GpuFacts gather_gpu_facts(const cuda::CudaPart& cuda, const RankDevice& device,
                          const RankPlace& environment) {
  GpuFacts facts;
  if (auto library = profiler::nvml::NvmlLibrary::open()) {
    facts.nvml = std::move(*library);
  } else {
    facts.nvml_problem = library.error().message;
  }
  facts.pci_bus_id = bus_id_of(device.device.index());
  facts.versions = versions_text(facts.nvml.get(), cuda.nccl_version());
  profiler::nvml::RankPlaces places;
  places.own = facts.pci_bus_id;
  places.is_shared = device.is_shared;
  places.is_single_machine = environment.local_world_size == environment.world_size;
  if (!device.is_shared) places.peers = peers_of(environment);
  facts.link = profiler::nvml::link_between_ranks(facts.nvml.get(), places);
  return facts;
}

}  // namespace shardlens::trainer::rank
