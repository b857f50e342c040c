// The library itself: whoever loads it loads LibTorch's CUDA operators and NCCL, too.
#include <nccl.h>

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "trainer/cuda/cuda_part.h"

namespace shardlens::trainer::cuda {

namespace {

c10::intrusive_ptr<c10d::Backend> create_nccl(const c10::intrusive_ptr<c10d::Store>& store,
                                              const NcclPlan& plan) {
  auto options = c10d::ProcessGroupNCCL::Options::create(plan.high_priority);
  options->timeout = plan.timeout;
  auto nccl =
      c10::make_intrusive<c10d::ProcessGroupNCCL>(store, plan.rank, plan.world_size, options);
  nccl->setBoundDeviceId(plan.device);
  return nccl;
}

c10::intrusive_ptr<c10d::Work> without_tensors(const c10::intrusive_ptr<c10d::Work>& work) {
  using WorkNccl = c10d::ProcessGroupNCCL::WorkNCCL;
  const auto* nccl = dynamic_cast<const WorkNccl*>(work.get());
  if (nccl == nullptr) return work;
  return c10::make_intrusive<WorkNccl>(*nccl);
}

std::string nccl_version() {
  int version = 0;
  if (ncclGetVersion(&version) != ncclSuccess) return "";
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

}  // namespace

}  // namespace shardlens::trainer::cuda

extern "C" const shardlens::trainer::cuda::CudaPart* shardlens_cuda_part() {
  using namespace shardlens::trainer::cuda;
  static constexpr CudaPart kPart{create_nccl, without_tensors, nccl_version};
  return &kPart;
}
