// The driver's calls that PyTorch and the recorder look up themselves: memory with addresses of its
// own (expandable segments), and whether there is a driver at all.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "tests/fake_gpu/cuda/device.h"
#include "tests/fake_gpu/cuda/memory.h"

using namespace shardlens::fake_gpu;

namespace {

// A handle of memory is its size and its device in one number.
constexpr int kDeviceBits = 8;
CUmemGenericAllocationHandle handle_of(std::size_t bytes, int device) {
  return bytes << kDeviceBits | static_cast<unsigned>(device);
}

template <typename Function>
void* address_of(Function* function) {
  return reinterpret_cast<void*>(function);
}

// Everything that is not here: multicast, green contexts, handles for other processes.
CUresult refuse() { return CUDA_ERROR_NOT_SUPPORTED; }

void* driver_function(std::string_view name) {
#define ENTRY(function) std::pair(std::string_view(#function), address_of(function))
  static const std::array entries{
      ENTRY(cuDeviceGet),
      ENTRY(cuDeviceGetAttribute),
      ENTRY(cuGetErrorString),
      ENTRY(cuCtxGetCurrent),
      ENTRY(cuCtxSetCurrent),
      ENTRY(cuMemGetAllocationGranularity),
      ENTRY(cuMemAddressReserve),
      ENTRY(cuMemAddressFree),
      ENTRY(cuMemCreate),
      ENTRY(cuMemRelease),
      ENTRY(cuMemMap),
      ENTRY(cuMemUnmap),
      ENTRY(cuMemSetAccess),
      ENTRY(cuDevicePrimaryCtxGetState),
  };
#undef ENTRY
  const auto found = std::ranges::find(entries, name, &std::pair<std::string_view, void*>::first);
  return found == entries.end() ? address_of(refuse) : found->second;
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = device_count();
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* text, int size, CUdevice device) {
  cudaDeviceProp properties;
  if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(text, static_cast<std::size_t>(size), "%s", properties.name);
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  *bytes = static_cast<std::size_t>(device_bytes());
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice device) {
  return cudaDeviceGetPCIBusId(text, size, device) == cudaSuccess ? CUDA_SUCCESS
                                                                  : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  // The runtime's and the driver's attributes have the same numbers.
  return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute), device) ==
                 cudaSuccess
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorString(CUresult, const char** text) {
  *text = "an error of the made-up driver";
  return CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = reinterpret_cast<CUcontext>(1);
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  *flags = 0;
  *active = has_context(device) ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp*,
                                       CUmemAllocationGranularity_flags) {
  *bytes = 2 << 20;
  return CUDA_SUCCESS;
}
CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes, std::size_t, CUdeviceptr,
                             unsigned long long) {
  void* reserved = reserve_addresses(bytes);
  *address = reinterpret_cast<CUdeviceptr>(reserved);
  return reserved == nullptr ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr address, std::size_t) {
  release_addresses(reinterpret_cast<void*>(address));
  return CUDA_SUCCESS;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long) {
  if (!take_bytes(bytes, properties->location.id)) return CUDA_ERROR_OUT_OF_MEMORY;
  *handle = handle_of(bytes, properties->location.id);
  return CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  give_bytes(handle >> kDeviceBits, static_cast<int>(handle & ((1U << kDeviceBits) - 1)));
  return CUDA_SUCCESS;
}
CUresult cuMemMap(CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle,
                  unsigned long long) {
  return CUDA_SUCCESS;
}
CUresult cuMemUnmap(CUdeviceptr, std::size_t) { return CUDA_SUCCESS; }
CUresult cuMemSetAccess(CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t) {
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned,
                                             unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  *function = driver_function(symbol);
  if (status != nullptr) *status = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}

}  // extern "C"
