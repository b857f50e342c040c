// Something that was launched and has to be waited for: by the host on a CPU, by the current stream
// on a GPU. Copies share it. The training thread and autograd's.
#pragma once

#include <ATen/core/ivalue.h>
#include <ATen/cuda/CUDAEvent.h>
#include <torch/torch.h>

#include <memory>
#include <utility>

namespace shardlens::trainer {

class Completion {
 public:
  Completion() = default;  // of nothing: never waits
  explicit Completion(c10::intrusive_ptr<c10::ivalue::Future> future)
      : future_(std::move(future)) {}
  explicit Completion(std::shared_ptr<at::cuda::CUDAEvent> event) : event_(std::move(event)) {}

  // Throws what made it fail.
  void wait() const {
    if (future_) future_->waitAndThrow();
    if (event_) event_->block(c10::cuda::getCurrentCUDAStream());
  }

 private:
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::shared_ptr<at::cuda::CUDAEvent> event_;
};

}  // namespace shardlens::trainer
