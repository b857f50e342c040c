#include "trainer/rank/rank_device.h"

#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAFunctions.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <thread>

#include "trace/base/number_text.h"
#include "trace/base/this_machine.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trainer::rank {

namespace {

std::string cpu_text() {
  const std::string name = trace::base::cpu_name();
  return (name.empty() ? "CPU" : name) + ", " +
         std::to_string(std::thread::hardware_concurrency()) + " cores";
}

trace::base::Result<RankDevice> choose_gpu(const trace::job::Settings& settings,
                                           const RankPlace& environment, int gpus) {
  const int ranks = environment.local_world_size;
  if (gpus == 0) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        "device is cuda, but this machine has no usable NVIDIA GPU. Set device to "
        "cpu or auto.");
  }
  if (ranks > gpus && !settings.oversubscribe) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        std::to_string(ranks) + " ranks on this machine, but this one sees " +
            trace::base::counted(gpus, "GPU") +
            ". If CUDA_VISIBLE_DEVICES hides GPUs, as where a launcher gives each rank its own, "
            "let every rank see all of them. Else use fewer ranks, set oversubscribe to share "
            "GPUs, or set device to cpu.");
  }
  const auto index = static_cast<c10::DeviceIndex>(environment.local_rank % gpus);
  return RankDevice{c10::Device(c10::kCUDA, index), ranks > gpus};
}

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

trace::base::Result<RankDevice> choose_device(const trace::job::Settings& settings,
                                              const RankPlace& environment) {
  // Who wants the CPU does not wake CUDA's driver.
  const bool wants_cpu = trace::job::runs_on_cpu(settings, /*has_gpus=*/true);
  const int gpus = wants_cpu ? 0 : static_cast<int>(c10::cuda::device_count());
  return choose_device(settings, environment, gpus);
}

trace::base::Result<RankDevice> choose_device(const trace::job::Settings& settings,
                                              const RankPlace& environment, int gpus) {
  if (trace::job::runs_on_cpu(settings, gpus > 0)) return RankDevice{};
  return choose_gpu(settings, environment, gpus);
}

std::string device_name(c10::Device device) {
  if (!device.is_cuda()) return cpu_text();
  cudaDeviceProp properties{};
  C10_CUDA_CHECK(cudaGetDeviceProperties(&properties, device.index()));
  return properties.name;
}

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
