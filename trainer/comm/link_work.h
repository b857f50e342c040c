// A collective that a GlooLink carries out: completed or failed by the link's thread, awaited
// anywhere.
#pragma once

#include <torch/torch.h>

#include <exception>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <vector>

namespace shardlens::trainer {

class LinkWork final : public c10d::Work {
 public:
  explicit LinkWork(std::vector<torch::Tensor> outputs);

  void complete();
  void fail(std::exception_ptr reason);

  std::vector<torch::Tensor> result() override { return outputs_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  std::vector<torch::Tensor> outputs_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

}  // namespace shardlens::trainer
