// The made-up GPUs themselves: how many, what they are called, what a thread last failed with.
// FAKE_GPU_COUNT (1), FAKE_GPU_NAME and FAKE_GPU_MEMORY_MB (81920, each) change them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "tests/fake_gpu/cuda/timeline.h"

namespace shardlens::fake_gpu {

int device_count();
std::int64_t device_bytes();
int current_device();
// Whether the process has a context there: cudaSetDevice makes one, and whatever has a stream's
// place or memory. Asking how many GPUs there are does not.
bool has_context(int device);
void make_context(int device);

// Remembers an error for cudaGetLastError.
cudaError_t failed(cudaError_t error);

// CUDA's handle as ours: null and the two special values are the current device's default stream.
Stream& stream_of(cudaStream_t stream);

}  // namespace shardlens::fake_gpu
