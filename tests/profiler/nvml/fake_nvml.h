// What the made-up management library answers: see fake_nvml_library.h. For tests.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "profiler/nvml/nvml_api.h"

namespace shardlens::test {

struct FakeGpu {
  std::string bus = "00000000:1B:00.0";
  std::string name = "Fake GPU";
  // By the function's name without "nvmlDevice": what it returns instead of an answer.
  std::map<std::string, int> refusals{};
  profiler::nvml::NvmlUtilization utilization{97, 41};
  profiler::nvml::NvmlMemory memory{80ull << 30, 60ull << 30, 20ull << 30};
  unsigned milliwatts = 512'300, limit_milliwatts = 700'000;
  unsigned sm_megahertz = 1'755, memory_megahertz = 2'619;
  unsigned degrees = 64;
  unsigned long long clock_limits = 0;
  unsigned pcie_sent = 3'000, pcie_received = 5'000;        // KB/s
  unsigned long long nvlink_sent = 0, nvlink_received = 0;  // KiB so far
  std::vector<unsigned> nvlink_versions{};                  // codes, of the active links
  unsigned pcie_generation = 5, pcie_width = 16;
  std::optional<bool> mig = false, persistence = true;
  std::vector<profiler::nvml::NvmlProcess> processes{};
};

struct FakeNvml {
  std::mutex mutex{};  // held by every function
  int init_status = 0;
  std::string driver = "580.95.05";
  int cuda = 13000;
  std::vector<FakeGpu> gpus{FakeGpu{}};
  // nvmlGpuP2PStatus_t between any two, by kind (kNvmlP2pRead, kNvmlP2pNvlink).
  std::map<int, int> p2p{{profiler::nvml::kNvmlP2pRead, 0}, {profiler::nvml::kNvmlP2pNvlink, 0}};
  int inits = 0, shutdowns = 0, pcie_reads = 0;
};

}  // namespace shardlens::test
