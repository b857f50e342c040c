// The part of NVIDIA's management library that is used here, as its nvml.h of CUDA 13 declares it:
// the library comes with the driver, its header does not come with LibTorch. Plain declarations.
#pragma once

namespace shardlens::profiler::nvml {

struct NvmlDeviceRecord;  // the library's own
using NvmlDevice = NvmlDeviceRecord*;

// nvmlReturn_t, as far as it is told apart.
enum NvmlStatus : int {
  kNvmlSuccess = 0,
  kNvmlInvalidArgument = 2,
  kNvmlNotSupported = 3,
  kNvmlNoPermission = 4,
  kNvmlInsufficientSize = 7,
  kNvmlDriverNotLoaded = 9,
  kNvmlFunctionNotFound = 13,
  kNvmlVersionMismatch = 18,
};

struct NvmlUtilization {  // percent of the library's last period
  unsigned gpu = 0;       // in which a kernel ran
  unsigned memory = 0;    // in which device memory was read or written
};

struct NvmlMemory {  // bytes
  unsigned long long total = 0, free = 0, used = 0;
};

struct NvmlProcess {  // nvmlProcessInfo_v2_t, of the _v3 function
  unsigned process_id = 0;
  unsigned long long used_bytes = 0;
  unsigned gpu_instance = 0, compute_instance = 0;
};

union NvmlValue {
  double real;
  unsigned small;
  unsigned long medium;
  unsigned long long large;
  long long signed_large;
};

struct NvmlFieldValue {
  unsigned field = 0;
  unsigned scope = 0;
  long long timestamp_us = 0;
  long long latency_us = 0;
  int value_type = 0;
  int status = 0;
  NvmlValue value{};
};

inline constexpr unsigned kNvmlFieldNvlinkSent = 138;      // NVLINK_THROUGHPUT_DATA_TX, KiB so far
inline constexpr unsigned kNvmlFieldNvlinkReceived = 139;  // NVLINK_THROUGHPUT_DATA_RX
inline constexpr unsigned kNvmlAllLinks = ~0u;             // scope: the sum over them
inline constexpr int kNvmlValueUnsigned = 1, kNvmlValueUnsignedLong = 2,
                     kNvmlValueUnsignedLongLong = 3;
inline constexpr int kNvmlClockSm = 1, kNvmlClockMemory = 2;
inline constexpr int kNvmlPcieSent = 0, kNvmlPcieReceived = 1;
inline constexpr int kNvmlTemperatureGpu = 0;
inline constexpr int kNvmlP2pRead = 0, kNvmlP2pNvlink = 2;
inline constexpr unsigned kNvmlMostLinks = 36;  // NVML_NVLINK_MAX_LINKS
inline constexpr int kNvmlEnabled = 1;

// Enumerations travel as int. A function that the installed library lacks is null.
struct NvmlApi {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*driver_version)(char*, unsigned) = nullptr;
  int (*cuda_driver_version)(int*) = nullptr;
  int (*device_count)(unsigned*) = nullptr;
  int (*device_by_index)(unsigned, NvmlDevice*) = nullptr;
  int (*device_by_pci_bus_id)(const char*, NvmlDevice*) = nullptr;

  int (*name)(NvmlDevice, char*, unsigned) = nullptr;
  int (*utilization)(NvmlDevice, NvmlUtilization*) = nullptr;
  int (*memory)(NvmlDevice, NvmlMemory*) = nullptr;
  int (*power_usage)(NvmlDevice, unsigned*) = nullptr;           // mW
  int (*enforced_power_limit)(NvmlDevice, unsigned*) = nullptr;  // mW
  int (*clock)(NvmlDevice, int, unsigned*) = nullptr;            // MHz
  int (*temperature)(NvmlDevice, int, unsigned*) = nullptr;      // °C
  int (*clock_limits)(NvmlDevice, unsigned long long*) = nullptr;
  int (*pcie_throughput)(NvmlDevice, int, unsigned*) = nullptr;  // KB/s over 20 ms, which it takes
  int (*field_values)(NvmlDevice, int, NvmlFieldValue*) = nullptr;

  int (*nvlink_state)(NvmlDevice, unsigned, int*) = nullptr;
  int (*nvlink_version)(NvmlDevice, unsigned, unsigned*) = nullptr;
  int (*max_pcie_generation)(NvmlDevice, unsigned*) = nullptr;  // of GPU and system together
  int (*max_pcie_width)(NvmlDevice, unsigned*) = nullptr;
  int (*p2p_status)(NvmlDevice, NvmlDevice, int, int*) = nullptr;
  int (*mig_mode)(NvmlDevice, unsigned*, unsigned*) = nullptr;
  int (*persistence_mode)(NvmlDevice, int*) = nullptr;
  int (*compute_processes)(NvmlDevice, unsigned*, NvmlProcess*) = nullptr;
};

}  // namespace shardlens::profiler::nvml
