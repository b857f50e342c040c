// The end of something that was launched, to wait for: on a CPU the host waits, on a GPU the
// current stream does. Copies refer to the same end. The training thread and autograd's.
#pragma once

#include <ATen/core/ivalue.h>
#include <c10/cuda/CUDAEvent.h>
#include <torch/types.h>

#include <memory>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>
#include <vector>

namespace shardlens::trainer::strategy {

class Completion {
 public:
  Completion() = default;  // of nothing: never waits
  using Works = std::vector<c10::intrusive_ptr<c10d::Work>>;
  explicit Completion(c10::intrusive_ptr<c10d::Work> work)
      : works_(std::make_shared<Works>(Works{std::move(work)})) {}
  // `works` that launch one another; all are known once `future` is there.
  Completion(c10::intrusive_ptr<c10::ivalue::Future> future, std::shared_ptr<const Works> works)
      : future_(std::move(future)), works_(std::move(works)) {}
  explicit Completion(std::shared_ptr<c10::cuda::CUDAEvent> event) : event_(std::move(event)) {}

  // Throws what made it fail. A work that was waited for holds no tensor but here.
  void wait() const {
    if (future_) future_->waitAndThrow();
    if (works_) {
      for (const auto& work : *works_) work->wait();
    }
    if (event_) event_->block(c10::cuda::getCurrentCUDAStream());
  }

 private:
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  std::shared_ptr<const Works> works_;
  std::shared_ptr<c10::cuda::CUDAEvent> event_;
};

}  // namespace shardlens::trainer::strategy
