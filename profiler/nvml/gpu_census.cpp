#include "profiler/nvml/gpu_census.h"

#include <algorithm>
#include <array>

namespace shardlens::profiler::nvml {

std::optional<std::vector<NvmlProcess>> compute_processes_on(const NvmlLibrary& library,
                                                             NvmlDevice device) {
  const NvmlApi& api = library.api();
  if (!api.compute_processes) return std::nullopt;
  std::vector<NvmlProcess> processes(64);
  auto count = static_cast<unsigned>(processes.size());
  int status = api.compute_processes(device, &count, processes.data());
  if (status == kNvmlInsufficientSize) {  // `count` is what it takes; more may start meanwhile
    processes.resize(count + 64);
    count = static_cast<unsigned>(processes.size());
    status = api.compute_processes(device, &count, processes.data());
  }
  if (status != kNvmlSuccess) return std::nullopt;
  processes.resize(std::min<std::size_t>(count, processes.size()));
  return processes;
}

namespace {

GpuFacts facts_of(const NvmlLibrary& library, NvmlDevice device) {
  const NvmlApi& api = library.api();
  GpuFacts facts;
  std::array<char, 97> name{};
  if (api.name && api.name(device, name.data(), name.size() - 1) == 0) facts.name = name.data();
  NvmlMemory memory;
  if (api.memory && api.memory(device, &memory) == kNvmlSuccess) facts.memory = memory;
  unsigned mig = 0, pending = 0;
  if (api.mig_mode && api.mig_mode(device, &mig, &pending) == kNvmlSuccess) facts.mig = mig != 0;
  int persistence = 0;
  if (api.persistence_mode && api.persistence_mode(device, &persistence) == kNvmlSuccess) {
    facts.persistence = persistence == kNvmlEnabled;
  }
  facts.processes = compute_processes_on(library, device);
  facts.nvlink = nvlink_of(library, device);
  facts.pcie = pcie_of(library, device);
  return facts;
}

}  // namespace

GpuCensus take_gpu_census(const NvmlLibrary& library) {
  GpuCensus census;
  census.driver = library.driver_version();
  census.cuda_version = library.cuda_version();
  std::vector<NvmlDevice> devices;
  for (int i = 0; i < library.device_count(); ++i) {
    const auto device = library.device(i);
    if (!device) continue;  // another user's, hidden by cgroups
    devices.push_back(*device);
    census.gpus.push_back(facts_of(library, *device));
  }
  for (std::size_t from = 0; from < devices.size(); ++from) {
    for (std::size_t to = from + 1; to < devices.size(); ++to) {
      census.pairs.push_back({static_cast<int>(from), static_cast<int>(to),
                              peer_access(library, devices[from], devices[to])});
    }
  }
  return census;
}

}  // namespace shardlens::profiler::nvml
