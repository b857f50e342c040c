#include "tests/fake_gpu/cuda/device.h"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace shardlens::fake_gpu {
namespace {

constexpr int kCudaVersion = 13000;
constexpr int kFirstBus = 0x1B;  // as in tests/profiler/nvml/fake_nvml

// cuDNN, which PyTorch takes for attention on an H100 first, is not made up: flash attention is
// next.
[[gnu::constructor]] void leave_cudnn_out() { setenv("TORCH_CUDNN_SDPA_DEPRIORITIZED", "1", 0); }

// What the driver does when it is asked for anything for the first time.
void start_injected_library() {
  static const bool is_done = [] {
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    void* library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    auto* start = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
    return start != nullptr && start() != 0;
  }();
  static_cast<void>(is_done);
}

thread_local int device = 0;
std::atomic<unsigned> contexts{0};  // a bit per device
thread_local cudaError_t last_error = cudaSuccess;

std::int64_t number_from(const char* variable, std::int64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::atoll(text);
}

}  // namespace

int device_count() {
  static const int count = static_cast<int>(number_from("FAKE_GPU_COUNT", 1));
  return count;
}

std::int64_t device_bytes() {
  static const std::int64_t bytes = number_from("FAKE_GPU_MEMORY_MB", 81'920) << 20;
  return bytes;
}

int current_device() { return device; }

bool has_context(int device) { return (contexts & (1U << device)) != 0; }
void make_context(int device) { contexts |= 1U << device; }

cudaError_t failed(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

Stream& stream_of(cudaStream_t stream) {
  make_context(device);
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
    return *default_stream(device);
  return *reinterpret_cast<Stream*>(stream);
}

}  // namespace shardlens::fake_gpu

using namespace shardlens::fake_gpu;

namespace {

// What an H100 answers, as far as programs decide by it.
int attribute_of(cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      return 9;
    case cudaDevAttrComputeCapabilityMinor:
      return 0;
    case cudaDevAttrMultiProcessorCount:
      return 132;
    case cudaDevAttrWarpSize:
      return 32;
    case cudaDevAttrMaxThreadsPerBlock:
      return 1024;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return 2048;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return 48 << 10;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return 227 << 10;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return 228 << 10;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return 65'536;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return 32;
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      return 1024;
    case cudaDevAttrMaxBlockDimZ:
      return 64;
    case cudaDevAttrMaxGridDimX:
      return 2'147'483'647;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return 65'535;
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrCooperativeLaunch:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  start_injected_library();
  *count = device_count();
  return *count > 0 ? cudaSuccess : failed(cudaErrorNoDevice);
}

cudaError_t cudaGetDevice(int* which) {
  *which = device;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int which) {
  start_injected_library();
  if (which < 0 || which >= device_count()) return failed(cudaErrorInvalidDevice);
  device = which;
  make_context(which);
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int which) {
  if (which < 0 || which >= device_count()) return failed(cudaErrorInvalidDevice);
  *properties = cudaDeviceProp{};
  const char* name = std::getenv("FAKE_GPU_NAME");
  std::snprintf(properties->name, sizeof properties->name, "%s",
                name != nullptr ? name : "Fake GPU that computes nothing");
  std::memcpy(properties->uuid.bytes, "fake GPU no. ", 13);
  properties->uuid.bytes[15] = static_cast<char>(which);
  properties->totalGlobalMem = static_cast<std::size_t>(device_bytes());
  properties->sharedMemPerBlock = 48 << 10;
  properties->sharedMemPerBlockOptin = 227 << 10;
  properties->sharedMemPerMultiprocessor = 228 << 10;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65'536;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->maxBlocksPerMultiProcessor = 32;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 2'147'483'647;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65'535;
  properties->totalConstMem = 64 << 10;
  properties->major = 9;
  properties->multiProcessorCount = 132;
  properties->concurrentKernels = properties->unifiedAddressing = 1;
  properties->cooperativeLaunch = properties->streamPrioritiesSupported = 1;
  properties->l2CacheSize = 50 << 20;
  properties->memoryBusWidth = 5120;
  properties->asyncEngineCount = 3;
  properties->textureAlignment = 512;
  properties->pciBusID = kFirstBus + which;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute_of(attribute);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int which) {
  std::snprintf(text, static_cast<std::size_t>(size), "0000:%02X:00.0", kFirstBus + which);
  return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int first, int second) {
  *can = first != second ? 1 : 0;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }

cudaError_t cudaDriverGetVersion(int* version) {
  *version = kCudaVersion;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = kCudaVersion;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : "cudaErrorFake";
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorStreamCaptureUnsupported:
      return "operation not permitted when stream is capturing";
    case cudaErrorStreamCaptureInvalidated:
      return "operation failed due to a previous error during capture";
    case cudaErrorStreamCaptureUnjoined:
      return "capturing stream has unjoined work";
    case cudaErrorStreamCaptureIsolation:
      return "dependency created on uncaptured work in another stream";
    case cudaErrorCapturedEvent:
      return "operation not permitted on an event last recorded in a capturing stream";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    default:
      return "an error that the made-up GPU has no text for";
  }
}

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

}  // extern "C"
