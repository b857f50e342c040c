// Kernels: their names, which programs register when they are loaded, and their launches.
#include <cuda_runtime_api.h>

#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/fake_gpu/cuda/device.h"
#include "tests/fake_gpu/cuda/memory.h"
#include "tests/fake_gpu/cupti/activity.h"

using namespace shardlens::fake_gpu;

namespace {

struct Names {
  std::mutex mutex;
  std::unordered_map<const void*, const char*> by_function;
  std::set<std::string> of_libraries;
};
Names& names() {
  static auto* instance = new Names;  // used until the process has ended
  return *instance;
}

const char* name_of(const void* function) {
  const std::lock_guard lock(names().mutex);
  const auto found = names().by_function.find(function);
  return found == names().by_function.end() ? "kernel" : found->second;
}

std::int64_t count_of(dim3 size) { return static_cast<std::int64_t>(size.x) * size.y * size.z; }

cudaError_t launch(const void* function, dim3 grid, dim3 block, cudaStream_t stream) {
  launch_kernel(
      stream_of(stream),
      {name_of(function), elementwise_ns(count_of(grid) * count_of(block)), forget_values});
  return cudaSuccess;
}

struct Configuration {
  dim3 grid, block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

}  // namespace

extern "C" {

// What nvcc makes of <<<>>> and of each kernel; CUDA 13's crt/host_runtime.h.
void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int, void*,
                            void*, void*, void*, int*) {
  const std::lock_guard lock(names().mutex);
  names().by_function[function] = name;
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}

// Code that a program brings itself. Nothing runs, so whatever a kernel is called, there is one.
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void*, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  static char loaded;
  *library = reinterpret_cast<cudaLibrary_t>(&loaded);
  return cudaSuccess;
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t, const char* name) {
  const std::lock_guard lock(names().mutex);
  const std::string& kept = *names().of_libraries.emplace(name).first;
  names().by_function[&kept] = kept.c_str();
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<std::string*>(&kept));
  return cudaSuccess;
}
cudaError_t cudaLibraryUnload(cudaLibrary_t) { return cudaSuccess; }

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                     cudaStream_t stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                       void* stream) {
  if (configurations.empty()) return failed(cudaErrorMissingConfiguration);
  const Configuration last = configurations.back();
  configurations.pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void**, std::size_t,
                               cudaStream_t stream) {
  return launch(kernel, grid, block, stream);
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void**, std::size_t,
                             cudaStream_t stream) {
  return launch(function, grid, block, stream);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, const void* function,
                                void**) {
  return launch(function, configuration->gridDim, configuration->blockDim, configuration->stream);
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void**,
                                        std::size_t, cudaStream_t stream) {
  return launch(function, grid, block, stream);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = 90;
  attributes->maxDynamicSharedSizeBytes = 227 << 10;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void*,
                                                                   int threads, std::size_t,
                                                                   unsigned) {
  *blocks = threads > 0 ? 2048 / threads : 1;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads, std::size_t bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, bytes,
                                                                0);
}

}  // extern "C"
