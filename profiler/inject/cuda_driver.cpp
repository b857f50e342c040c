#include "profiler/inject/cuda_driver.h"

#include <dlfcn.h>

#include <array>

namespace shardlens::profiler::inject {

template <typename F>
void CudaDriver::load(F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(library_, name));
}

CudaDriver::CudaDriver() : library_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)) {
  if (library_ == nullptr) return;
  load(device_count_, "cuDeviceGetCount");
  load(device_get_, "cuDeviceGet");
  load(bus_id_, "cuDeviceGetPCIBusId");
  load(primary_context_, "cuDevicePrimaryCtxGetState");
}

CudaDriver::~CudaDriver() {
  if (library_ != nullptr) dlclose(library_);
}

int CudaDriver::devices() const {
  int count = 0;
  return device_count_ != nullptr && device_count_(&count) == 0 ? count : 0;
}

std::string CudaDriver::bus_id(std::uint32_t device) const {
  int handle = 0;
  std::array<char, 32> text{};
  if (device_get_ == nullptr || bus_id_ == nullptr ||
      device_get_(&handle, static_cast<int>(device)) != 0 ||
      bus_id_(text.data(), static_cast<int>(text.size()), handle) != 0) {
    return "";
  }
  return text.data();
}

bool CudaDriver::has_context() const {
  if (device_get_ == nullptr || primary_context_ == nullptr) return false;
  for (int device = 0; device < devices(); ++device) {
    int handle = 0, is_active = 0;
    unsigned flags = 0;
    if (device_get_(&handle, device) == 0 && primary_context_(handle, &flags, &is_active) == 0 &&
        is_active != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace shardlens::profiler::inject
