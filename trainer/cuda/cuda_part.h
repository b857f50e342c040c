// What only ranks on GPUs need, LibTorch's CUDA operators and NCCL, is a library of its own, which
// a rank loads when it is to compute on one: they make 470 MB resident of 115 MB (LibTorch 2.11,
// x86-64) and take a quarter of a second of processor time. One thread.
#pragma once

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "trace/base/result.h"

namespace shardlens::trainer::cuda {

struct NcclPlan {
  int rank = 0, world_size = 1;
  c10::Device device = c10::kCUDA;
  std::chrono::milliseconds timeout{0};
  bool high_priority = false;  // a collective does not queue behind the kernels that it overlaps
};

struct CudaPart {
  // NCCL for this rank. Throws c10::Error.
  c10::intrusive_ptr<c10d::Backend> (*create_nccl)(const c10::intrusive_ptr<c10d::Store>& store,
                                                   const NcclPlan& plan);
  // A copy of a collective's work that tells when it ends but does not hold its tensors, as
  // LibTorch's own watchdog has one: memory that training gives back must be free at once, not when
  // somebody looks next. Work of others than NCCL is returned as it is.
  c10::intrusive_ptr<c10d::Work> (*without_tensors)(const c10::intrusive_ptr<c10d::Work>& work);
  std::string (*nccl_version)();  // "2.28.9"; "": it does not say
};

// Loads it unless it is loaded, and makes CUDA known to LibTorch. Must be called before anything
// asks LibTorch about GPUs, which it answers for the rest of the process as it does first. Errors
// (kFailed): it is not there or does not load, or somebody has asked.
trace::base::Result<const CudaPart*> load_cuda_part(const std::string& file = "shardlens-cuda.so");

}  // namespace shardlens::trainer::cuda
