#include "tests/fake_gpu/cuda/memory.h"

#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>

#include "tests/fake_gpu/cuda/capture.h"
#include "tests/fake_gpu/cuda/device.h"
#include "tests/fake_gpu/cupti/activity.h"
#include "tests/fake_gpu/cupti/counters.h"

namespace shardlens::fake_gpu {
namespace {

struct Range {
  std::size_t bytes;
  int device;  // negative: pinned host memory
};

struct Memory {
  std::mutex mutex;
  std::map<std::uintptr_t, Range> ranges;  // by address
  std::map<int, std::int64_t> used;
  std::map<std::uintptr_t, std::vector<std::byte>> known;  // by address
};
Memory& memory() {
  static auto* instance = new Memory;  // used until the process has ended
  return *instance;
}

std::uintptr_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// The range that holds `pointer`, or null. Needs the lock.
const Range* range_of(const Memory& all, const void* pointer) {
  const auto after = all.ranges.upper_bound(address_of(pointer));
  if (after == all.ranges.begin()) return nullptr;
  const auto& [start, range] = *std::prev(after);
  return address_of(pointer) < start + range.bytes ? &range : nullptr;
}

// Touching a device's memory from the host is a fault, as it is with a GPU.
void* map_pages(std::size_t bytes, bool is_device) {
  void* pages =
      mmap(nullptr, std::max<std::size_t>(bytes, 1), is_device ? PROT_NONE : PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

void* add_range(std::size_t bytes, int device) {
  void* pages = map_pages(bytes, device >= 0);
  if (pages == nullptr) return nullptr;
  const std::lock_guard lock(memory().mutex);
  memory().ranges[address_of(pages)] = {bytes, device};
  return pages;
}

// The range, or one of no bytes where nothing begins at `pointer`.
Range remove_range(void* pointer) {
  Range range{0, -1};
  {
    const std::lock_guard lock(memory().mutex);
    const auto found = memory().ranges.find(address_of(pointer));
    if (found == memory().ranges.end()) return range;
    range = found->second;
    memory().ranges.erase(found);
  }
  munmap(pointer, std::max<std::size_t>(range.bytes, 1));
  return range;
}

}  // namespace

bool take_bytes(std::size_t bytes, int device) {
  make_context(device);
  const std::lock_guard lock(memory().mutex);
  std::int64_t& used = memory().used[device];
  if (used + static_cast<std::int64_t>(bytes) > device_bytes()) return false;
  used += static_cast<std::int64_t>(bytes);
  return true;
}

void give_bytes(std::size_t bytes, int device) {
  const std::lock_guard lock(memory().mutex);
  memory().used[device] -= static_cast<std::int64_t>(bytes);
}

std::int64_t used_bytes(int device) {
  const std::lock_guard lock(memory().mutex);
  return memory().used[device];
}

void* allocate_on_device(std::size_t bytes, int device) {
  if (!take_bytes(bytes, device)) return nullptr;
  return add_range(bytes, device);
}

bool free_on_device(void* pointer) {
  const Range range = remove_range(pointer);
  if (range.device < 0) return false;
  give_bytes(range.bytes, range.device);
  return true;
}

void* reserve_addresses(std::size_t bytes) { return add_range(bytes, current_device()); }
void release_addresses(void* addresses) { remove_range(addresses); }

bool is_on_device(const void* pointer) {
  const std::lock_guard lock(memory().mutex);
  const Range* range = range_of(memory(), pointer);
  return range != nullptr && range->device >= 0;
}

bool is_pinned(const void* pointer) {
  const std::lock_guard lock(memory().mutex);
  const Range* range = range_of(memory(), pointer);
  return range != nullptr && range->device < 0;
}

void write_values(void* to, std::span<const std::byte> values) {
  if (values.size() > kMostKnownBytes) return;
  const std::lock_guard lock(memory().mutex);
  memory().known[address_of(to)].assign(values.begin(), values.end());
}

std::vector<std::byte> read_values(const void* from, std::size_t bytes) {
  std::vector<std::byte> values(bytes);
  if (bytes == 0) return values;
  const std::lock_guard lock(memory().mutex);
  const auto after = memory().known.upper_bound(address_of(from));
  if (after == memory().known.begin()) return values;
  const auto& [start, known] = *std::prev(after);
  const std::size_t skipped = address_of(from) - start;
  if (skipped + bytes <= known.size()) std::memcpy(values.data(), known.data() + skipped, bytes);
  return values;
}

void forget_values() {
  const std::lock_guard lock(memory().mutex);
  memory().known.clear();
}

}  // namespace shardlens::fake_gpu

using namespace shardlens::fake_gpu;

namespace {

CUpti_ActivityMemcpyKind kind_of(bool from_device, bool to_device) {
  if (from_device) {
    return to_device ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD : CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  }
  return to_device ? CUPTI_ACTIVITY_MEMCPY_KIND_HTOD : CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
}

std::span<const std::byte> host_values(const void* from, std::size_t bytes) {
  return {static_cast<const std::byte*>(from), bytes};
}

// What the copy does when its stream gets there. Memory that is not pinned is read at once.
std::function<void()> effect_of(void* to, const void* from, std::size_t bytes,
                                CUpti_ActivityMemcpyKind kind) {
  if (kind != CUPTI_ACTIVITY_MEMCPY_KIND_DTOH && bytes > kMostKnownBytes) return nullptr;
  switch (kind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      if (is_pinned(from)) return [to, from, bytes] { write_values(to, host_values(from, bytes)); };
      return
          [to, values = std::vector(host_values(from, bytes).begin(),
                                    host_values(from, bytes).end())] { write_values(to, values); };
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      return [to, from, bytes] { std::memcpy(to, read_values(from, bytes).data(), bytes); };
    default:
      return [to, from, bytes] { write_values(to, read_values(from, bytes)); };
  }
}

void copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  const CUpti_ActivityMemcpyKind kind = kind_of(is_on_device(from), is_on_device(to));
  if (kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOH) std::memmove(to, from, bytes);
  if (bytes == 0 || kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOH) return;
  launch_copy(stream_of(stream), static_cast<std::int64_t>(bytes), kind,
              effect_of(to, from, bytes, kind));
  // As CUDA does with memory that may be swapped out.
  if (kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOH && !is_pinned(to)) cudaStreamSynchronize(stream);
}

void set(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  launch_set(stream_of(stream), static_cast<std::int64_t>(bytes), [to, value, bytes] {
    if (bytes <= kMostKnownBytes)
      write_values(to, std::vector(bytes, static_cast<std::byte>(value)));
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  if (const cudaError_t error = check_capture_modes()) return failed(error);
  *pointer = allocate_on_device(bytes, current_device());
  return *pointer == nullptr ? failed(cudaErrorMemoryAllocation) : cudaSuccess;
}
cudaError_t cudaFree(void* pointer) {
  if (const cudaError_t error = check_capture_modes()) return failed(error);
  if (pointer == nullptr || free_on_device(pointer)) return cudaSuccess;
  return failed(cudaErrorInvalidValue);
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(pointer, bytes);
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return cudaFree(pointer); }

cudaError_t cudaHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  if (const cudaError_t error = check_capture_modes()) return failed(error);
  *pointer = add_range(bytes, -1);
  return *pointer == nullptr ? failed(cudaErrorMemoryAllocation) : cudaSuccess;
}
cudaError_t cudaFreeHost(void* pointer) {
  if (const cudaError_t error = check_capture_modes()) return failed(error);
  remove_range(pointer);
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void*, std::size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  counters().memory_questions++;
  *total = static_cast<std::size_t>(device_bytes());
  constexpr std::int64_t kContextBytes = 539 << 20;  // as on an H200
  *free = *total - static_cast<std::size_t>(used_bytes(current_device()) + kContextBytes);
  return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  *attributes = {};
  const std::lock_guard lock(memory().mutex);
  const Range* range = range_of(memory(), pointer);
  attributes->type = range == nullptr    ? cudaMemoryTypeUnregistered
                     : range->device < 0 ? cudaMemoryTypeHost
                                         : cudaMemoryTypeDevice;
  if (range == nullptr) return cudaSuccess;
  attributes->device = std::max(range->device, 0);
  attributes->devicePointer = const_cast<void*>(pointer);
  if (range->device < 0) attributes->hostPointer = const_cast<void*>(pointer);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  copy(to, from, bytes, stream);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  copy(to, from, bytes, nullptr);
  return cudaStreamSynchronize(nullptr);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                cudaStream_t stream) {
  copy(to, from, bytes, stream);
  return cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind, cudaStream_t stream) {
  for (std::size_t row = 0; row < height; ++row) {
    copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch,
         width, stream);
  }
  return cudaSuccess;
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  set(to, value, bytes, nullptr);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  set(to, value, bytes, stream);
  return cudaSuccess;
}
cudaError_t cudaMemcpyToSymbol(const void*, const void*, std::size_t, std::size_t, cudaMemcpyKind) {
  return cudaSuccess;
}

}  // extern "C"
