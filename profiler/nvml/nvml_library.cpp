#include "profiler/nvml/nvml_library.h"

#include <dlfcn.h>

#include <array>

namespace shardlens::profiler::nvml {

namespace {

template <typename Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
}

NvmlApi load(void* library) {
  NvmlApi api;
  find(library, "nvmlInit_v2", api.init);
  find(library, "nvmlShutdown", api.shutdown);
  find(library, "nvmlErrorString", api.error_string);
  find(library, "nvmlSystemGetDriverVersion", api.driver_version);
  find(library, "nvmlSystemGetCudaDriverVersion_v2", api.cuda_driver_version);
  find(library, "nvmlDeviceGetCount_v2", api.device_count);
  find(library, "nvmlDeviceGetHandleByIndex_v2", api.device_by_index);
  find(library, "nvmlDeviceGetHandleByPciBusId_v2", api.device_by_pci_bus_id);
  find(library, "nvmlDeviceGetName", api.name);
  find(library, "nvmlDeviceGetUtilizationRates", api.utilization);
  find(library, "nvmlDeviceGetMemoryInfo", api.memory);
  find(library, "nvmlDeviceGetPowerUsage", api.power_usage);
  find(library, "nvmlDeviceGetEnforcedPowerLimit", api.enforced_power_limit);
  find(library, "nvmlDeviceGetClockInfo", api.clock);
  find(library, "nvmlDeviceGetTemperature", api.temperature);
  find(library, "nvmlDeviceGetCurrentClocksEventReasons", api.clock_limits);
  // As drivers before 535 call it.
  if (!api.clock_limits) {
    find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", api.clock_limits);
  }
  find(library, "nvmlDeviceGetPcieThroughput", api.pcie_throughput);
  find(library, "nvmlDeviceGetFieldValues", api.field_values);
  find(library, "nvmlDeviceGetNvLinkState", api.nvlink_state);
  find(library, "nvmlDeviceGetNvLinkVersion", api.nvlink_version);
  find(library, "nvmlDeviceGetMaxPcieLinkGeneration", api.max_pcie_generation);
  find(library, "nvmlDeviceGetMaxPcieLinkWidth", api.max_pcie_width);
  find(library, "nvmlDeviceGetP2PStatus", api.p2p_status);
  find(library, "nvmlDeviceGetMigMode", api.mig_mode);
  find(library, "nvmlDeviceGetPersistenceMode", api.persistence_mode);
  find(library, "nvmlDeviceGetComputeRunningProcesses_v3", api.compute_processes);
  return api;
}

std::string what_to_do(int status) {
  switch (status) {
    case kNvmlDriverNotLoaded:
      return "Load it (modprobe nvidia), or give the container the GPUs (--gpus all).";
    case kNvmlVersionMismatch:
      return "The driver was updated while it ran: restart the machine, or reload its modules.";
    case kNvmlNoPermission:
      return "Allow this user to open /dev/nvidia*.";
    default:
      return "See whether nvidia-smi works.";
  }
}

std::string text_of(const NvmlApi& api, int status) {
  const char* text = api.error_string ? api.error_string(status) : nullptr;
  return text ? text : "error " + std::to_string(status);
}

}  // namespace

trace::base::Result<std::shared_ptr<const NvmlLibrary>> NvmlLibrary::open(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return trace::base::fail(
        trace::base::ErrorKind::kMissing,
        "no NVIDIA driver: " + file +
            " is not there. Install NVIDIA's driver, or give the container the "
            "GPUs (--gpus all).");
  }
  const NvmlApi api = load(library);
  const int status = api.init ? api.init() : int{kNvmlFunctionNotFound};
  if (status != kNvmlSuccess) {
    const std::string reason = text_of(api, status);
    dlclose(library);
    return trace::base::fail(
        trace::base::ErrorKind::kFailed,
        "the NVIDIA driver does not answer: " + reason + ". " + what_to_do(status));
  }
  return std::shared_ptr<const NvmlLibrary>(new NvmlLibrary(library, api));
}

NvmlLibrary::~NvmlLibrary() {
  if (api_.shutdown) api_.shutdown();
  dlclose(library_);
}

std::string NvmlLibrary::error_text(int status) const { return text_of(api_, status); }

std::string NvmlLibrary::driver_version() const {
  std::array<char, 96> text{};  // NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE is 80
  const bool known = api_.driver_version && api_.driver_version(text.data(), text.size() - 1) == 0;
  return known ? text.data() : "";
}

int NvmlLibrary::cuda_version() const {
  int version = 0;
  const bool known = api_.cuda_driver_version && api_.cuda_driver_version(&version) == 0;
  return known ? version : 0;
}

int NvmlLibrary::device_count() const {
  unsigned count = 0;
  const bool known = api_.device_count && api_.device_count(&count) == 0;
  return known ? static_cast<int>(count) : 0;
}

std::optional<NvmlDevice> NvmlLibrary::device(int index) const {
  NvmlDevice device = nullptr;
  const bool known = api_.device_by_index &&
                     api_.device_by_index(static_cast<unsigned>(index), &device) == kNvmlSuccess;
  return known ? std::optional(device) : std::nullopt;
}

std::optional<NvmlDevice> NvmlLibrary::device_at(const std::string& pci_bus_id) const {
  NvmlDevice device = nullptr;
  const bool known = api_.device_by_pci_bus_id &&
                     api_.device_by_pci_bus_id(pci_bus_id.c_str(), &device) == kNvmlSuccess;
  return known ? std::optional(device) : std::nullopt;
}

std::string cuda_version_text(int version) {
  if (version <= 0) return "";
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace shardlens::profiler::nvml
