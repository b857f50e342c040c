#include "app/launch/device_probe.h"

#include <dlfcn.h>

#include <array>

namespace shardlens::app::launch {
namespace {

// The driver's interface (cuda.h), as far as needed: the program does not link CUDA.
using CuResult = int;
using CuDevice = int;

template <typename Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

CudaDevice describe(void* library, CuDevice device) {
  CudaDevice described;
  std::array<char, 256> name{};
  if (auto* get_name = symbol<CuResult(char*, int, CuDevice)>(library, "cuDeviceGetName");
      get_name != nullptr && get_name(name.data(), static_cast<int>(name.size()), device) == 0) {
    described.name = name.data();
  }
  if (auto* get_memory = symbol<CuResult(std::size_t*, CuDevice)>(library, "cuDeviceTotalMem_v2")) {
    get_memory(&described.memory_bytes, device);
  }
  return described;
}

}  // namespace

CudaProbe probe_cuda() {
  CudaProbe probe;
  // Never unloaded: the driver does not survive dlclose after cuInit.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return probe;
  auto* init = symbol<CuResult(unsigned)>(library, "cuInit");
  auto* version = symbol<CuResult(int*)>(library, "cuDriverGetVersion");
  auto* get_count = symbol<CuResult(int*)>(library, "cuDeviceGetCount");
  auto* get_device = symbol<CuResult(CuDevice*, int)>(library, "cuDeviceGet");
  if (!init || !get_count || !get_device) return probe;
  probe.driver_found = true;
  if (version != nullptr) version(&probe.driver_cuda_version);
  probe.error_code = init(0);
  int count = 0;
  if (probe.error_code != 0 || get_count(&count) != 0) return probe;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    CuDevice device = 0;
    if (get_device(&device, ordinal) == 0) probe.devices.push_back(describe(library, device));
  }
  return probe;
}

}  // namespace shardlens::app::launch
