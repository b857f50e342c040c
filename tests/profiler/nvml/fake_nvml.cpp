// The shared library behind fake_nvml.h: the functions of libnvidia-ml.so.1 that are used.
#include "tests/profiler/nvml/fake_nvml.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

using namespace shardlens;
using profiler::nvml::NvmlDevice;

namespace {

// Never destroyed: a recorder may ask until the very end of a process.
test::FakeNvml& fake = *new test::FakeNvml;

// Programs that nobody tells otherwise see the GPUs of tests/fake_gpu: that many, one bus after the
// other.
bool add_gpus() {
  const char* count = std::getenv("FAKE_GPU_COUNT");
  for (int i = 1; count != nullptr && i < std::atoi(count); ++i) {
    char bus[32];
    std::snprintf(bus, sizeof bus, "00000000:%02X:00.0", 0x1B + i);
    fake.gpus.push_back({.bus = bus});
  }
  return true;
}
[[maybe_unused]] const bool has_gpus = add_gpus();

test::FakeGpu* gpu_of(NvmlDevice device) { return reinterpret_cast<test::FakeGpu*>(device); }

void write_text(const std::string& text, char* to, unsigned size) {
  std::snprintf(to, size, "%s", text.c_str());
}

// Answers unless the GPU refuses this function.
template <typename Answer>
int answer(NvmlDevice device, const char* function, Answer give) {
  const std::lock_guard lock(fake.mutex);
  test::FakeGpu& gpu = *gpu_of(device);
  const auto refusal = gpu.refusals.find(function);
  if (refusal != gpu.refusals.end()) return refusal->second;
  return give(gpu);
}

template <typename Value, typename Flag>
int answer_known(const std::optional<Flag>& known, Value* value) {
  if (!known) return profiler::nvml::kNvmlNotSupported;
  *value = static_cast<Value>(*known);
  return 0;
}

}  // namespace

extern "C" {

test::FakeNvml* reset_fake_nvml() {
  const std::lock_guard lock(fake.mutex);
  const test::FakeNvml fresh;
  fake.init_status = fresh.init_status;
  fake.driver = fresh.driver;
  fake.cuda = fresh.cuda;
  fake.gpus = fresh.gpus;
  fake.p2p = fresh.p2p;
  fake.inits = fake.shutdowns = fake.pcie_reads = 0;
  return &fake;
}

int nvmlInit_v2() {
  ++fake.inits;
  // As long as it takes with many GPUs and no persistence mode.
  if (const char* ms = std::getenv("FAKE_NVML_INIT_MS"))
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(ms)));
  return fake.init_status;
}
int nvmlShutdown() {
  ++fake.shutdowns;
  return 0;
}
const char* nvmlErrorString(int status) {
  switch (status) {
    case 3:
      return "Not Supported";
    case 9:
      return "Driver Not Loaded";
    case 15:
      return "GPU is lost";
    case 18:
      return "Driver/library version mismatch";
    default:
      return "Unknown Error";
  }
}
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  write_text(fake.driver, text, size);
  return 0;
}
int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = fake.cuda;
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(fake.gpus.size());
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, NvmlDevice* device) {
  if (index >= fake.gpus.size()) return profiler::nvml::kNvmlInvalidArgument;
  *device = reinterpret_cast<NvmlDevice>(&fake.gpus[index]);
  return 0;
}
// CUDA writes the domain with four digits, NVML with eight; the real one takes both.
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, NvmlDevice* device) {
  for (test::FakeGpu& gpu : fake.gpus) {
    if (*bus == 0 || !gpu.bus.ends_with(bus)) continue;
    *device = reinterpret_cast<NvmlDevice>(&gpu);
    return 0;
  }
  return 6;
}
int nvmlDeviceGetName(NvmlDevice device, char* text, unsigned size) {
  return answer(device, "GetName", [&](test::FakeGpu& gpu) {
    write_text(gpu.name, text, size);
    return 0;
  });
}
int nvmlDeviceGetUtilizationRates(NvmlDevice device, profiler::nvml::NvmlUtilization* load) {
  return answer(device, "GetUtilizationRates", [&](test::FakeGpu& gpu) {
    *load = gpu.utilization;
    return 0;
  });
}
int nvmlDeviceGetMemoryInfo(NvmlDevice device, profiler::nvml::NvmlMemory* memory) {
  return answer(device, "GetMemoryInfo", [&](test::FakeGpu& gpu) {
    *memory = gpu.memory;
    return 0;
  });
}
int nvmlDeviceGetPowerUsage(NvmlDevice device, unsigned* milliwatts) {
  return answer(device, "GetPowerUsage", [&](test::FakeGpu& gpu) {
    *milliwatts = gpu.milliwatts;
    return 0;
  });
}
int nvmlDeviceGetEnforcedPowerLimit(NvmlDevice device, unsigned* milliwatts) {
  return answer(device, "GetEnforcedPowerLimit", [&](test::FakeGpu& gpu) {
    *milliwatts = gpu.limit_milliwatts;
    return 0;
  });
}
int nvmlDeviceGetClockInfo(NvmlDevice device, int which, unsigned* megahertz) {
  return answer(device, "GetClockInfo", [&](test::FakeGpu& gpu) {
    *megahertz = which == profiler::nvml::kNvmlClockSm ? gpu.sm_megahertz : gpu.memory_megahertz;
    return 0;
  });
}
int nvmlDeviceGetTemperature(NvmlDevice device, int, unsigned* degrees) {
  return answer(device, "GetTemperature", [&](test::FakeGpu& gpu) {
    *degrees = gpu.degrees;
    return 0;
  });
}
int nvmlDeviceGetCurrentClocksEventReasons(NvmlDevice device, unsigned long long* limits) {
  return answer(device, "GetCurrentClocksEventReasons", [&](test::FakeGpu& gpu) {
    *limits = gpu.clock_limits;
    return 0;
  });
}
int nvmlDeviceGetPcieThroughput(NvmlDevice device, int direction, unsigned* kilobytes) {
  return answer(device, "GetPcieThroughput", [&](test::FakeGpu& gpu) {
    ++fake.pcie_reads;
    *kilobytes = direction == profiler::nvml::kNvmlPcieSent ? gpu.pcie_sent : gpu.pcie_received;
    return 0;
  });
}
int nvmlDeviceGetFieldValues(NvmlDevice device, int count, profiler::nvml::NvmlFieldValue* values) {
  return answer(device, "GetFieldValues", [&](test::FakeGpu& gpu) {
    for (int i = 0; i < count; ++i) {
      profiler::nvml::NvmlFieldValue& value = values[i];
      const bool known =
          !gpu.nvlink_versions.empty() && value.scope == profiler::nvml::kNvmlAllLinks;
      value.status = known ? 0 : int{profiler::nvml::kNvmlNotSupported};
      value.value_type = profiler::nvml::kNvmlValueUnsignedLongLong;
      value.value.large = value.field == profiler::nvml::kNvmlFieldNvlinkSent ? gpu.nvlink_sent
                                                                              : gpu.nvlink_received;
    }
    return 0;
  });
}
int nvmlDeviceGetNvLinkState(NvmlDevice device, unsigned link, int* active) {
  return answer(device, "GetNvLinkState", [&](test::FakeGpu& gpu) -> int {
    if (link >= 18) return profiler::nvml::kNvmlInvalidArgument;
    *active = link < gpu.nvlink_versions.size() ? 1 : 0;
    return 0;
  });
}
int nvmlDeviceGetNvLinkVersion(NvmlDevice device, unsigned link, unsigned* version) {
  return answer(device, "GetNvLinkVersion", [&](test::FakeGpu& gpu) -> int {
    if (link >= gpu.nvlink_versions.size()) return profiler::nvml::kNvmlInvalidArgument;
    *version = gpu.nvlink_versions[link];
    return 0;
  });
}
int nvmlDeviceGetMaxPcieLinkGeneration(NvmlDevice device, unsigned* generation) {
  return answer(device, "GetMaxPcieLinkGeneration", [&](test::FakeGpu& gpu) {
    *generation = gpu.pcie_generation;
    return 0;
  });
}
int nvmlDeviceGetMaxPcieLinkWidth(NvmlDevice device, unsigned* width) {
  return answer(device, "GetMaxPcieLinkWidth", [&](test::FakeGpu& gpu) {
    *width = gpu.pcie_width;
    return 0;
  });
}
int nvmlDeviceGetP2PStatus(NvmlDevice from, NvmlDevice, int kind, int* status) {
  return answer(from, "GetP2PStatus", [&](test::FakeGpu&) {
    *status = fake.p2p.at(kind);
    return 0;
  });
}
int nvmlDeviceGetMigMode(NvmlDevice device, unsigned* current, unsigned* pending) {
  return answer(device, "GetMigMode", [&](test::FakeGpu& gpu) {
    answer_known(gpu.mig, pending);
    return answer_known(gpu.mig, current);
  });
}
int nvmlDeviceGetPersistenceMode(NvmlDevice device, int* mode) {
  return answer(device, "GetPersistenceMode",
                [&](test::FakeGpu& gpu) { return answer_known(gpu.persistence, mode); });
}
int nvmlDeviceGetComputeRunningProcesses_v3(NvmlDevice device, unsigned* count,
                                            profiler::nvml::NvmlProcess* processes) {
  return answer(device, "GetComputeRunningProcesses", [&](test::FakeGpu& gpu) -> int {
    const auto room = *count;
    *count = static_cast<unsigned>(gpu.processes.size());
    if (room < gpu.processes.size()) return profiler::nvml::kNvmlInsufficientSize;
    std::ranges::copy(gpu.processes, processes);
    return 0;
  });
}

// LibTorch wants these to be there.
int nvmlDeviceGetComputeRunningProcesses(NvmlDevice, unsigned* count, void*) {
  *count = 0;
  return 0;
}
int nvmlDeviceGetGpuFabricInfoV(NvmlDevice, void*) { return profiler::nvml::kNvmlNotSupported; }
int nvmlDeviceGetNvLinkRemoteDeviceType(NvmlDevice, unsigned, void*) {
  return profiler::nvml::kNvmlNotSupported;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(NvmlDevice, unsigned, void*) {
  return profiler::nvml::kNvmlNotSupported;
}
}
